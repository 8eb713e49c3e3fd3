import type {
  Decisions,
  DecisionStamp,
  KeyDecision,
  ProjectDecision,
  ServerDecision,
} from './decision-store.js';

/** JSON form of the decisions. The revision is stored beside it. */
export interface DecisionsJson {
  readonly servers: Readonly<Record<string, ServerDecision>>;
  readonly projects: Readonly<Record<string, ProjectDecision>>;
  readonly keys: Readonly<Record<string, KeyDecision>>;
  readonly stamps: Readonly<Record<string, DecisionStamp>>;
}

export const toJson = ({ servers, projects, keys, stamps }: Decisions): DecisionsJson => ({
  servers: Object.fromEntries(servers),
  projects: Object.fromEntries(projects),
  keys: Object.fromEntries(keys),
  stamps: Object.fromEntries(stamps),
});

export function fromJson({ servers, projects, keys, stamps }: DecisionsJson, revision: number): Decisions {
  return {
    revision,
    servers: new Map(Object.entries(servers).map(([id, decision]) => [id, withoutPrototype(decision)])),
    projects: new Map(Object.entries(projects)),
    keys: new Map(Object.entries(keys)),
    stamps: new Map(Object.entries(stamps)),
  };
}

/** The decisions exactly as a restart would read them: copied, reduced to what JSON can express, and frozen. */
export function asStored(decisions: Decisions): Decisions {
  const text = JSON.stringify(toJson(decisions));
  const frozen: DecisionsJson = JSON.parse(text, (_key, value: unknown) => Object.freeze(value));
  return Object.freeze(fromJson(frozen, decisions.revision));
}

/** A tool may be named `constructor`: its lookup must not find a member of Object.prototype. */
function withoutPrototype(decision: ServerDecision): ServerDecision {
  if (!decision.tools) return decision;
  const tools: Record<string, boolean> = Object.assign(Object.create(null), decision.tools);
  return Object.freeze({ ...decision, tools: Object.freeze(tools) });
}
