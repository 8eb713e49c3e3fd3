import type { Definition } from '../core/name-table.js';
import { isObject } from '../mcp/json-rpc.js';
import { membersOf, elementsOf } from '../core/json-text.js';
import type { Link } from './link.js';

/** A server that pages for ever, or offers more than this, is cut off there. */
export interface ListingLimits {
  readonly pages: number;
  readonly items: number;
  readonly timeoutMs: number;
}

export const LISTING_LIMITS: ListingLimits = { pages: 1000, items: 100_000, timeoutMs: 30_000 };

export interface FetchedList {
  readonly definitions: readonly Definition[];
  /** Why the list is not the whole list; absent when it is. */
  readonly cutShort?: string;
}

/** Follows every page of one list. What has no usable name is left out; of equal names the first stays. */
export async function fetchList(
  link: Link,
  method: 'tools/list' | 'prompts/list',
  limits = LISTING_LIMITS,
): Promise<FetchedList> {
  const member = method.slice(0, method.indexOf('/'));
  const definitions = new Map<string, Definition>();
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < limits.pages; page++) {
    const params = cursor === undefined ? undefined : JSON.stringify({ cursor });
    const { text } = await link.request({ method, params, timeoutMs: limits.timeoutMs });
    for (const definition of definitionsIn(text, member)) {
      if (definitions.size >= limits.items) return cut(definitions, `more than ${limits.items} items`);
      if (!definitions.has(definition.name)) definitions.set(definition.name, definition);
    }
    cursor = nextCursor(text);
    if (cursor === undefined) return { definitions: [...definitions.values()] };
    if (cursors.has(cursor)) return cut(definitions, 'the server repeats a cursor');
    cursors.add(cursor);
  }
  return cut(definitions, `more than ${limits.pages} pages`);
}

const cut = (definitions: ReadonlyMap<string, Definition>, cutShort: string): FetchedList => ({
  definitions: [...definitions.values()],
  cutShort,
});

function definitionsIn(text: string, member: string): Definition[] {
  const list = membersOf(text).findLast(({ key }) => key === member);
  if (!list || text[list.start] !== '[') return [];
  return elementsOf(text, list.start).flatMap(({ start, end }) => {
    const definition = text.slice(start, end);
    const value: unknown = JSON.parse(definition);
    return isObject(value) && typeof value['name'] === 'string' && value['name'] !== ''
      ? [{ name: value['name'], text: definition }]
      : [];
  });
}

/** An empty string is a cursor like any other. */
function nextCursor(text: string): string | undefined {
  const { nextCursor: cursor } = JSON.parse(text) as { nextCursor?: unknown };
  return typeof cursor === 'string' ? cursor : undefined;
}
