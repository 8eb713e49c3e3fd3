import { elementsOf, memberText, membersOf } from '../core/json-text.js';
import type { Definition } from '../core/name-table.js';
import { isObject } from '../mcp/json-rpc.js';
import { turns } from '../registry/turns.js';
import type { Link } from './link.js';

/** A server that pages for ever, or offers more than this, is cut off there. */
export interface ListingLimits {
  readonly pages: number;
  readonly items: number;
  readonly timeoutMs: number;
}

export const LISTING_LIMITS: ListingLimits = { pages: 1000, items: 100_000, timeoutMs: 30_000 };
const RESOURCE_LIMITS: ListingLimits = { pages: 20_000, items: 1_000_000, timeoutMs: 30_000 };

/** How a list is fetched: the member that holds it, and what its items are known by. */
interface List {
  readonly member: string;
  readonly key: 'name' | 'uri' | 'uriTemplate';
  readonly limits: ListingLimits;
}

const LISTS = {
  'tools/list': { member: 'tools', key: 'name', limits: LISTING_LIMITS },
  'prompts/list': { member: 'prompts', key: 'name', limits: LISTING_LIMITS },
  'resources/list': { member: 'resources', key: 'uri', limits: RESOURCE_LIMITS },
  'resources/templates/list': { member: 'resourceTemplates', key: 'uriTemplate', limits: LISTING_LIMITS },
} as const satisfies Record<string, List>;

export type ListMethod = keyof typeof LISTS;

/** Nobody could ask for what has a longer name. */
const LONGEST_KEY = 8192;

export interface FetchedList {
  readonly definitions: readonly Definition[];
  /** Why the list is not the whole list; absent when it is. */
  readonly cutShort?: string;
}

/** Follows every page of one list. What has no usable name is left out; what is listed twice comes twice. */
export async function fetchList(
  link: Link,
  method: ListMethod,
  limits: ListingLimits = LISTS[method].limits,
): Promise<FetchedList> {
  const pause = turns.pause();
  const definitions: Definition[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < limits.pages; page++) {
    const params = cursor === undefined ? undefined : JSON.stringify({ cursor });
    const { text } = await link.request({ method, params, timeoutMs: limits.timeoutMs });
    for (const definition of definitionsIn(text, LISTS[method])) {
      if (definitions.length >= limits.items)
        return { definitions, cutShort: `more than ${limits.items} items` };
      definitions.push(definition);
      if ((definitions.length & 63) === 0) await pause();
    }
    cursor = nextCursor(text);
    if (cursor === undefined) return { definitions };
    if (cursors.has(cursor)) return { definitions, cutShort: 'the server repeats a cursor' };
    cursors.add(cursor);
  }
  return { definitions, cutShort: `more than ${limits.pages} pages` };
}

function* definitionsIn(text: string, { member, key }: List): Iterable<Definition> {
  const list = membersOf(text).findLast((candidate) => candidate.key === member);
  if (!list || text[list.start] !== '[') return;
  for (const { start, end } of elementsOf(text, list.start)) {
    const definition = text.slice(start, end);
    const value: unknown = JSON.parse(definition);
    const name = isObject(value) ? value[key] : undefined;
    if (typeof name === 'string' && name !== '' && name.length <= LONGEST_KEY)
      yield { name, text: definition };
  }
}

/** An empty string is a cursor like any other. */
function nextCursor(text: string): string | undefined {
  const cursor = memberText(text, 'nextCursor');
  return cursor?.startsWith('"') ? (JSON.parse(cursor) as string) : undefined;
}
