import type { ApiKeyConfig } from '../config/api-key-config.js';
import type { GatehouseConfig } from '../config/gatehouse-config.js';
import { enabledDecisionId, toolDecisionId } from '../state/decision-items.js';
import type { Decisions, ProjectDecision, ServerDecision } from '../state/decision-store.js';

/**
 * Of the decision about the server `id`, returns the part that applies. With `decisions.policy: file`, only the
 * emergency switches of a server apply if the file defines the server.
 */
export function effectiveServerDecision(
  id: string,
  { servers, stamps }: Decisions,
  { decisions, mcpServers }: GatehouseConfig,
): ServerDecision {
  const decision = servers.get(id) ?? {};
  if (decisions.policy === 'overlay' || !mcpServers.has(id)) return decision;
  const { enabled, tools = {} } = decision;
  const isEmergency = (decisionId: string): boolean => stamps.get(decisionId)?.emergency === true;
  const disabledTools = Object.entries(tools).filter(
    ([tool, isEnabled]) => !isEnabled && isEmergency(toolDecisionId(id, tool)),
  );
  return {
    ...(enabled === false && isEmergency(enabledDecisionId(id)) && { enabled }),
    ...(disabledTools.length > 0 && { tools: Object.fromEntries(disabledTools) }),
  };
}

/**
 * The decision about a project, if it applies. With `decisions.policy: file`, no decision applies to a project that the
 * file defines.
 */
export function effectiveProjectDecision(
  id: string,
  { projects }: Decisions,
  config: GatehouseConfig,
): ProjectDecision | undefined {
  return config.decisions.policy === 'file' && config.projects.has(id) ? undefined : projects.get(id);
}

/** Whether an administrator revoked the key. A revocation applies with every `decisions.policy`. */
export const isRevokedKey = ({ id, hash }: ApiKeyConfig, { keys }: Decisions): boolean =>
  keys.get(id)?.revoked.includes(hash.toLowerCase()) === true;
