import type { Decisions, ProjectDecision, ServerDecision } from './decision-store.js';

export const NO_DECISIONS: Decisions = { revision: 0, servers: new Map(), projects: new Map() };

/** Decides about one server, from what was decided before. A decision that says nothing leaves it to the config. */
export function decideServer(
  decisions: Decisions,
  id: string,
  decide: (before: ServerDecision) => ServerDecision,
): Decisions {
  const decision = decide(decisions.servers.get(id) ?? {});
  const saysNothing = Object.values(decision).every((value) => value === undefined);
  return { ...decisions, servers: replaced(decisions.servers, id, saysNothing ? undefined : decision) };
}

/** Decides about one project; undefined leaves it to the config. */
export function decideProject(
  decisions: Decisions,
  id: string,
  decision: ProjectDecision | undefined,
): Decisions {
  return { ...decisions, projects: replaced(decisions.projects, id, decision) };
}

function replaced<T>(entries: ReadonlyMap<string, T>, id: string, value: T | undefined): Map<string, T> {
  const copy = new Map(entries);
  if (value === undefined) copy.delete(id);
  else copy.set(id, value);
  return copy;
}
