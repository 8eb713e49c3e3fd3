import type { Decisions, KeyDecision, ProjectDecision, ServerDecision } from './decision-store.js';

export const NO_DECISIONS: Decisions = {
  revision: 0,
  servers: new Map(),
  projects: new Map(),
  keys: new Map(),
  stamps: new Map(),
};

/** Changes the decision about one server. An empty decision is removed, so that the configuration applies. */
export function decideServer(
  decisions: Decisions,
  id: string,
  decide: (before: ServerDecision) => ServerDecision,
): Decisions {
  const decision = decide(decisions.servers.get(id) ?? {});
  const isEmpty = Object.values(decision).every((value) => value === undefined);
  return { ...decisions, servers: withEntry(decisions.servers, id, isEmpty ? undefined : decision) };
}

/** Changes the decision about one project; undefined removes it, so that the configuration applies. */
export function decideProject(
  decisions: Decisions,
  id: string,
  decision: ProjectDecision | undefined,
): Decisions {
  return { ...decisions, projects: withEntry(decisions.projects, id, decision) };
}

/** Changes the decision about one key; undefined removes it. */
export function decideKey(decisions: Decisions, id: string, decision: KeyDecision | undefined): Decisions {
  return { ...decisions, keys: withEntry(decisions.keys, id, decision) };
}

function withEntry<T>(entries: ReadonlyMap<string, T>, id: string, value: T | undefined): Map<string, T> {
  const copy = new Map(entries);
  if (value === undefined) copy.delete(id);
  else copy.set(id, value);
  return copy;
}
