/** An authenticated identity, or anonymous. Determined from the HTTP headers of a request, never from a message. */
export interface Principal {
  /** The id of an API key, or issuer and subject of a token, so that a refreshed token has the same id. */
  readonly id: string;
  /** The ids of the projects that the principal may use, or `*` for all servers. */
  readonly grants: ReadonlySet<string> | '*';
}

/** The principal of all clients while no authentication is configured. */
export const ANONYMOUS: Principal = { id: 'anonymous', grants: '*' };

export const ALL_PROJECTS = '*';

export const grantsOf = (projects: readonly string[]): Principal['grants'] =>
  projects.includes(ALL_PROJECTS) ? ALL_PROJECTS : new Set(projects);
