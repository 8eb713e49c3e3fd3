import { elementsOf, membersOf, type Member } from '../core/json-text.js';
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
/** Any of them may be what a URI is an instance of, so that all of them are looked at. */
const TEMPLATE_LIMITS: ListingLimits = { ...LISTING_LIMITS, items: 10_000 };

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
  'resources/templates/list': { member: 'resourceTemplates', key: 'uriTemplate', limits: TEMPLATE_LIMITS },
} as const satisfies Record<string, List>;

export type ListMethod = keyof typeof LISTS;

/** Nobody could ask for what has a longer name: a URI may have 8,192 characters, the server before it included. */
const LONGEST_KEY = 8192 - 'resource://'.length - 64 - '/'.length;

export interface FetchedList {
  readonly definitions: readonly Definition[];
  /** How many have no name that anybody could ask for; absent when all have one. */
  readonly leftOut?: number;
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
  let leftOut = 0;
  const fetched = (cutShort?: string): FetchedList => ({
    definitions,
    ...(leftOut > 0 && { leftOut }),
    ...(cutShort !== undefined && { cutShort }),
  });
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < limits.pages; page++) {
    const params = cursor === undefined ? undefined : JSON.stringify({ cursor });
    const { text } = await link.request({ method, params, timeoutMs: limits.timeoutMs });
    // Pages of many servers may come in one turn of the event loop.
    await pause();
    const members = membersOf(text);
    for (const definition of definitionsIn(text, members, LISTS[method])) {
      if (definition === undefined) leftOut++;
      else if (definitions.length < limits.items) definitions.push(definition);
      else return fetched(`more than ${limits.items} items`);
      if ((definitions.length & 63) === 0) await pause();
    }
    cursor = nextCursor(text, members);
    if (cursor === undefined) return fetched();
    if (cursors.has(cursor)) return fetched('the server repeats a cursor');
    cursors.add(cursor);
  }
  return fetched(`more than ${limits.pages} pages`);
}

/** Undefined stands for one that has no usable name. */
function* definitionsIn(
  text: string,
  members: readonly Member[],
  { member, key }: List,
): Iterable<Definition | undefined> {
  const list = members.findLast((candidate) => candidate.key === member);
  if (!list || text[list.start] !== '[') return;
  for (const { start, end } of elementsOf(text, list.start)) {
    const definition = text.slice(start, end);
    const value: unknown = JSON.parse(definition);
    const name = isObject(value) ? value[key] : undefined;
    const isUsable = typeof name === 'string' && name !== '' && name.length <= LONGEST_KEY;
    yield isUsable ? { name, text: definition } : undefined;
  }
}

/** An empty string is a cursor like any other. */
function nextCursor(text: string, members: readonly Member[]): string | undefined {
  const cursor = members.findLast(({ key }) => key === 'nextCursor');
  const isText = cursor !== undefined && text[cursor.start] === '"';
  return isText ? (JSON.parse(text.slice(cursor.start, cursor.end)) as string) : undefined;
}
