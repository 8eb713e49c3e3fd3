import type { Decisions, ProjectDecision, ServerDecision } from './decision-store.js';

/** Decisions as they stand in JSON. The revision is kept beside them. */
export interface DecisionsJson {
  readonly servers: Readonly<Record<string, ServerDecision>>;
  readonly projects: Readonly<Record<string, ProjectDecision>>;
}

export function toJson({ servers, projects }: Decisions): DecisionsJson {
  return { servers: Object.fromEntries(servers), projects: Object.fromEntries(projects) };
}

export function fromJson({ servers, projects }: DecisionsJson, revision: number): Decisions {
  return {
    revision,
    servers: new Map(Object.entries(servers).map(([id, decision]) => [id, withBareTools(decision)])),
    projects: new Map(Object.entries(projects)),
  };
}

/** Exactly what a restart would read back: nobody else's objects, nothing that JSON cannot say, and all of it frozen. */
export function asStored(decisions: Decisions): Decisions {
  const text = JSON.stringify(toJson(decisions));
  const frozen: DecisionsJson = JSON.parse(text, (_key, value: unknown) => Object.freeze(value));
  return Object.freeze(fromJson(frozen, decisions.revision));
}

/** A tool may be called `constructor`; asking for it must not find what every object has. */
function withBareTools(decision: ServerDecision): ServerDecision {
  if (!decision.tools) return decision;
  const tools: Record<string, boolean> = Object.assign(Object.create(null), decision.tools);
  return Object.freeze({ ...decision, tools: Object.freeze(tools) });
}
