import { isDeepStrictEqual } from 'node:util';
import type { GatehouseConfig } from '../config/gatehouse-config.js';
import { readServer } from '../config/read-server.js';
import type { ServerConfig } from '../config/servers-config.js';
import { decideProject, decideServer } from '../state/decisions.js';
import type { Decisions, ProjectDecision, ServerDecision } from '../state/decision-store.js';

/**
 * Drops the decisions that equal the configuration file. They have no effect now, but would overrule a later change of
 * the file. A decision that is the same object in `unchecked` is kept without a comparison.
 */
export function withoutRedundant(
  decisions: Decisions,
  config: GatehouseConfig,
  unchecked?: Decisions,
): Decisions {
  let remaining = decisions;
  for (const [id, decision] of decisions.servers) {
    if (unchecked?.servers.get(id) === decision) continue;
    const needed = neededPart(id, decision, config.mcpServers.get(id));
    if (needed !== decision) remaining = decideServer(remaining, id, () => needed);
  }
  for (const [id, decision] of decisions.projects) {
    if (unchecked?.projects.get(id) === decision) continue;
    const declared = config.projects.get(id);
    if (declared && isSameProject(decision, declared)) remaining = decideProject(remaining, id, undefined);
  }
  return remaining;
}

/** The part of the decision that differs from the file. Returns `decision` itself if all of it differs. */
function neededPart(
  id: string,
  decision: ServerDecision,
  declared: ServerConfig | undefined,
): ServerDecision {
  const { enabled, tools = {}, definition, removed } = decision;
  if (removed) return decision;
  const defined = definition && readOrUndefined(id, definition);
  const equalsDeclared = defined !== undefined && declared !== undefined && isSameServer(defined, declared);
  // The definition to which the decisions about the server and its tools apply.
  const base = equalsDeclared ? declared : (defined ?? declared);
  if (!base) return decision;
  const isEnabledInBase = (tool: string): boolean => !base.tools.disabled.includes(tool);
  const neededTools = Object.entries(tools).filter(
    ([tool, isEnabled]) => isEnabled !== isEnabledInBase(tool),
  );
  const changesEnabled = enabled !== undefined && enabled !== base.enabled;
  const isNeededWhole =
    !equalsDeclared &&
    (changesEnabled || enabled === undefined) &&
    neededTools.length === Object.keys(tools).length;
  if (isNeededWhole) return decision;
  return {
    ...(definition && !equalsDeclared && { definition }),
    ...(changesEnabled && { enabled }),
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

/** Whether two definitions are equal. The order of disabled tools has no meaning. */
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
