import type { ApiKeyConfig } from '../config/api-key-config.js';
import type { GatehouseConfig } from '../config/gatehouse-config.js';
import { enabledDecisionId, toolDecisionId } from '../state/decision-items.js';
import type { Decisions, ProjectDecision, ServerDecision } from '../state/decision-store.js';

/**
 * The decision about a server as it applies. With `decisions.policy: file`, only emergency switches apply to a server of the
 * file.
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
  const switchedOff = Object.entries(tools).filter(
    ([tool, isEnabled]) => !isEnabled && isEmergency(toolDecisionId(id, tool)),
  );
  return {
    ...(enabled === false && isEmergency(enabledDecisionId(id)) && { enabled }),
    ...(switchedOff.length > 0 && { tools: Object.fromEntries(switchedOff) }),
  };
}

/** The decision about a project as it applies. */
export function effectiveProjectDecision(
  id: string,
  { projects }: Decisions,
  config: GatehouseConfig,
): ProjectDecision | undefined {
  return config.decisions.policy === 'file' && config.projects.has(id) ? undefined : projects.get(id);
}

/** Whether the key was revoked. A revocation applies with every policy. */
export const isRevokedKey = ({ id, hash }: ApiKeyConfig, { keys }: Decisions): boolean =>
  keys.get(id)?.revoked.includes(hash.toLowerCase()) === true;
