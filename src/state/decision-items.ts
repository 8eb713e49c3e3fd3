import { isDeepStrictEqual } from 'node:util';
import { decideKey, decideProject, decideServer } from './decisions.js';
import type { Decisions, DecisionStamp, ProjectDecision, ServerDecision } from './decision-store.js';

/** One decision, which a single admin action has made. It can be cleared without clearing another decision. */
export interface DecisionItem {
  /** `server:<id>:enabled`, `server:<id>:definition`, `tool:<server>:<own name>`, `project:<id>` or `key:<id>`. */
  readonly id: string;
  readonly kind: 'server' | 'tool' | 'project' | 'key';
  /** Id of the server, project or key. */
  readonly target: string;
  /** The server's own name of the tool. */
  readonly tool?: string;
  readonly change: 'enabled' | 'disabled' | 'defined' | 'removed' | 'revoked';
  readonly value: unknown;
}

export const enabledDecisionId = (server: string): string => `server:${server}:enabled`;
export const definitionDecisionId = (server: string): string => `server:${server}:definition`;
export const toolDecisionId = (server: string, tool: string): string => `tool:${server}:${tool}`;
export const projectDecisionId = (project: string): string => `project:${project}`;
export const keyDecisionId = (key: string): string => `key:${key}`;

/**
 * For example `server:a:enabled` or `tool:a:b:c`. The id of a server contains no colon; the name of a tool may contain
 * some.
 */
const ITEM_ID = /^(server|tool|project|key):([^:]+)(?::(.*))?$/s;

const changeTo = (enabled: boolean): 'enabled' | 'disabled' => (enabled ? 'enabled' : 'disabled');

/** All decisions: first those about servers and their tools, then those about projects, then those about keys. */
export function decisionItems({
  servers,
  projects,
  keys,
}: Omit<Decisions, 'revision' | 'stamps'>): DecisionItem[] {
  return [
    ...[...servers].flatMap(([id, decision]) => serverDecisionItems(id, decision)),
    ...Array.from(projects, ([id, decision]) => projectDecisionItem(id, decision)),
    ...Array.from(keys, ([target, value]): DecisionItem => ({
      id: keyDecisionId(target),
      kind: 'key',
      target,
      change: 'revoked',
      value,
    })),
  ];
}

export const projectDecisionItem = (target: string, value: ProjectDecision): DecisionItem => ({
  id: projectDecisionId(target),
  kind: 'project',
  target,
  change: 'removed' in value ? 'removed' : 'defined',
  value,
});

export const toolDecisionItem = (target: string, tool: string, value: boolean): DecisionItem => ({
  id: toolDecisionId(target, tool),
  kind: 'tool',
  target,
  tool,
  change: changeTo(value),
  value,
});

export function serverDecisionItems(target: string, decision: ServerDecision): DecisionItem[] {
  const { enabled, tools = {}, definition, removed } = decision;
  const items: DecisionItem[] = [];
  const ofServer = { kind: 'server', target } as const;
  const definitionId = definitionDecisionId(target);
  if (removed) items.push({ ...ofServer, id: definitionId, change: 'removed', value: removed });
  else if (definition) items.push({ ...ofServer, id: definitionId, change: 'defined', value: definition });
  if (enabled !== undefined)
    items.push({ ...ofServer, id: enabledDecisionId(target), change: changeTo(enabled), value: enabled });
  for (const [tool, value] of Object.entries(tools)) items.push(toolDecisionItem(target, tool, value));
  return items;
}

/** Removes the decision with this id. Returns the decisions unchanged if there is none. */
export function withoutDecision(decisions: Decisions, id: string): Decisions {
  const [, kind, target, suffix] = ITEM_ID.exec(id) ?? [];
  if (target === undefined) return decisions;
  if (kind === 'project') return decideProject(decisions, target, undefined);
  if (kind === 'key') return decideKey(decisions, target, undefined);
  return decideServer(decisions, target, ({ tools, ...decision }) => {
    const { enabled, definition, removed } = decision;
    if (kind === 'tool') return { ...decision, tools: withoutMember(tools, suffix ?? '') };
    if (suffix === 'enabled') return { definition, removed, tools };
    return suffix === 'definition' ? { enabled, tools } : { ...decision, tools };
  });
}

/**
 * Returns `after` with this stamp on every decision that differs from `before`. The decision with the id
 * `renewedDecisionId` gets the stamp even if its value is the same. Stamps of removed decisions are removed.
 */
export function stampChanges(
  before: Decisions,
  after: Decisions,
  stamp: DecisionStamp,
  renewedDecisionId?: string,
): Decisions {
  const stamps = new Map(after.stamps);
  const previousValues = new Map<string, unknown>();
  for (const item of decisionItems(differing(before, after))) {
    previousValues.set(item.id, item.value);
    stamps.delete(item.id);
  }
  for (const { id, value } of decisionItems(differing(after, before))) {
    const previous = before.stamps.get(id);
    const isSame = previousValues.has(id) && isDeepStrictEqual(previousValues.get(id), value);
    if (!isSame || id === renewedDecisionId) stamps.set(id, stamp);
    else if (previous) stamps.set(id, previous);
  }
  return { ...after, stamps };
}

/** The entries of `decisions` that are not the same objects in `other`. A change keeps the objects of unchanged entries. */
const differing = (
  decisions: Decisions,
  other: Decisions,
): Pick<Decisions, 'servers' | 'projects' | 'keys'> => ({
  servers: entriesNotIn(decisions.servers, other.servers),
  projects: entriesNotIn(decisions.projects, other.projects),
  keys: entriesNotIn(decisions.keys, other.keys),
});

const entriesNotIn = <T>(entries: ReadonlyMap<string, T>, other: ReadonlyMap<string, T>): Map<string, T> =>
  new Map([...entries].filter(([id, value]) => other.get(id) !== value));

/** The record without this member; undefined when no member remains. */
function withoutMember<T>(
  record: Readonly<Record<string, T>> = {},
  name: string,
): Record<string, T> | undefined {
  const members = Object.entries(record).filter(([member]) => member !== name);
  return members.length === 0 ? undefined : Object.fromEntries(members);
}
