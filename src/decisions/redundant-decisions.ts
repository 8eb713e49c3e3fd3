import { isDeepStrictEqual } from 'node:util';
import type { GatehouseConfig } from '../config/gatehouse-config.js';
import { readServer } from '../config/read-server.js';
import type { ServerConfig } from '../config/servers-config.js';
import { decideProject, decideServer } from '../state/decisions.js';
import type { Decisions, ProjectDecision, ServerDecision } from '../state/decision-store.js';

/**
 * The decisions without those that equal the value of the configuration file: they would only keep a later change of the file
 * from taking effect. Entries that `unchecked` shares are kept without a check.
 */
export function withoutRedundant(
  decisions: Decisions,
  config: GatehouseConfig,
  unchecked?: Decisions,
): Decisions {
  let remaining = decisions;
  for (const [id, decision] of decisions.servers) {
    if (unchecked?.servers.get(id) === decision) continue;
    const needed = neededOf(id, decision, config.mcpServers.get(id));
    if (needed !== decision) remaining = decideServer(remaining, id, () => needed);
  }
  for (const [id, decision] of decisions.projects) {
    if (unchecked?.projects.get(id) === decision) continue;
    const declared = config.projects.get(id);
    if (declared && isSameProject(decision, declared)) remaining = decideProject(remaining, id, undefined);
  }
  return remaining;
}

/** The same object when the whole decision is needed. */
function neededOf(id: string, decision: ServerDecision, declared: ServerConfig | undefined): ServerDecision {
  const { enabled, tools = {}, definition, removed } = decision;
  if (removed) return decision;
  const defined = definition && readOrUndefined(id, definition);
  const isDeclared = defined !== undefined && declared !== undefined && isSameServer(defined, declared);
  const base = isDeclared ? declared : (defined ?? declared);
  if (!base) return decision;
  const neededTools = Object.entries(tools).filter(
    ([tool, isEnabled]) => isEnabled === base.tools.disabled.includes(tool),
  );
  const isEnabledNeeded = enabled !== undefined && enabled !== base.enabled;
  const isWhole =
    !isDeclared &&
    isEnabledNeeded === (enabled !== undefined) &&
    neededTools.length === Object.keys(tools).length;
  if (isWhole) return decision;
  return {
    ...(definition && !isDeclared && { definition }),
    ...(isEnabledNeeded && { enabled }),
    ...(neededTools.length > 0 && { tools: Object.fromEntries(neededTools) }),
  };
}

function readOrUndefined(id: string, definition: unknown): ServerConfig | undefined {
  try {
    return readServer(id, definition);
  } catch {
    return undefined;
  }
}

/** The order of disabled tools has no meaning. */
const isSameServer = (a: ServerConfig, b: ServerConfig): boolean =>
  isDeepStrictEqual(comparable(a), comparable(b));

function comparable(config: ServerConfig): object {
  const tools = Object.assign({}, config.tools, { disabled: config.tools.disabled.toSorted() });
  return Object.assign({}, config, { tools });
}

const isSameProject = (
  decision: ProjectDecision,
  {
    servers,
    description,
  }: { readonly servers: readonly string[]; readonly description?: string | undefined },
): boolean =>
  'servers' in decision &&
  decision.description === description &&
  isDeepStrictEqual([...decision.servers], [...servers]);
