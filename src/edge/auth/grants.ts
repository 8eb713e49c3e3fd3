import type { Principal } from '../../mcp/principal.js';

export const ALL = '*';

export const grantsOf = (projects: readonly string[]): Principal['grants'] =>
  projects.includes(ALL) ? ALL : new Set(projects);
