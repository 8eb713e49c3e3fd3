import { elementsOf, membersOf, ownText, type Member } from '../../lib/json-text/json-text.js';
import type { Definition } from '../../core/naming/name-table.js';
import { isObject } from '../../mcp/json-rpc.js';
import { turns } from '../../lib/slices/slices.js';
import { mendedDefinition, type ListMember } from './definition-shape.js';
import type { Link } from '../link/link.js';
import {
  LISTING_LIMITS,
  LONGEST_CURSOR,
  LONGEST_KEY,
  RESOURCE_LIMITS,
  TEMPLATE_LIMITS,
  type ListingLimits,
} from './listing-limits.js';

/** How a list is fetched: the member that holds it, and what its items are known by. */
interface List {
  readonly member: ListMember;
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

export interface FetchedList {
  readonly definitions: readonly Definition[];
  /** How many have no name that anybody could ask for, lack a part or are too long; absent when none. */
  readonly leftOut?: number;
  /** How many are listed without members that clients would refuse them for; absent when none. */
  readonly mended?: number;
  /** Why the list is not the whole list; absent when it is. */
  readonly cutShort?: string;
}

/** Follows every page of one list. What is listed twice comes twice. */
export async function fetchList(
  link: Link,
  method: ListMethod,
  limits: ListingLimits = LISTS[method].limits,
): Promise<FetchedList> {
  const pause = turns.pause();
  const list = new GrowingList(LISTS[method], limits);
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < limits.pages; page++) {
    const params = cursor === undefined ? undefined : JSON.stringify({ cursor });
    const { text } = await link.request({ method, params, timeoutMs: limits.timeoutMs });
    // Pages of many servers may come in one turn of the event loop.
    await pause();
    const members = membersOf(text);
    const taking = list.take(text, members);
    while (!taking.next().done) await pause();
    cursor = nextCursor(text, members);
    if (list.isFull || cursor === undefined) return list.fetched();
    if (cursors.has(cursor)) return list.fetched('the server repeats a cursor');
    if (cursor.length > LONGEST_CURSOR) return list.fetched('the server has too long a cursor');
    cursors.add(cursor);
    list.characters += cursor.length;
  }
  return list.fetched(`more than ${limits.pages} pages`);
}

/** What has been fetched so far. */
class GrowingList {
  /** What it takes in memory. */
  characters = 0;
  private readonly definitions: Definition[] = [];
  private leftOut = 0;
  private mended = 0;
  private tooMuch: string | undefined;

  constructor(
    private readonly list: List,
    private readonly limits: ListingLimits,
  ) {}

  get isFull(): boolean {
    return this.tooMuch !== undefined;
  }

  /** Takes what is on a page, and stops now and then for others. */
  *take(text: string, members: readonly Member[]): Generator<void, void> {
    const list = members.findLast(({ key }) => key === this.list.member);
    if (!list || text[list.start] !== '[') return;
    const before = this.characters;
    const first = this.definitions.length;
    let step = 0;
    for (const { start, end } of elementsOf(text, list.start)) {
      if ((++step & 63) === 0) yield;
      this.add(text, start, end);
      if (this.isFull) break;
    }
    if ((this.characters - before) * 2 >= text.length) return;
    // Parts of a page keep it in memory, also where most of it is not listed.
    for (let at = first; at < this.definitions.length; at++) {
      if ((++step & 63) === 0) yield;
      const { name, text: part } = this.definitions[at]!;
      this.definitions[at] = { name, text: ownText(part) };
    }
  }

  fetched(cutShort = this.tooMuch): FetchedList {
    const { definitions, leftOut, mended } = this;
    return {
      definitions,
      ...(leftOut > 0 && { leftOut }),
      ...(mended > 0 && { mended }),
      ...(cutShort !== undefined && { cutShort }),
    };
  }

  private add(page: string, start: number, end: number): void {
    const { items, total } = this.limits;
    const definition = end - start > this.limits.definition ? undefined : this.read(page.slice(start, end));
    if (!definition) this.leftOut++;
    else if (this.definitions.length === items) this.tooMuch = `more than ${items} items`;
    else if (this.characters + definition.text.length > total) this.tooMuch = `more than ${total} characters`;
    else {
      this.definitions.push(definition);
      this.characters += definition.text.length;
    }
  }

  private read(text: string): Definition | undefined {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return undefined;
    const name = value[this.list.key];
    if (typeof name !== 'string' || !isUsable(name, this.list.key)) return undefined;
    const mended = mendedDefinition(this.list.member, name, text, value);
    if (mended !== text && mended !== undefined) this.mended++;
    return mended === undefined ? undefined : { name, text: mended };
  }
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Half a character is in no URI, and would be lost in a cursor. Names are given others that have none. */
const isUsable = (name: string, key: List['key']): boolean =>
  name !== '' && Buffer.byteLength(name) <= LONGEST_KEY && (key === 'name' || !LONE_SURROGATE.test(name));

/** An empty string is a cursor like any other. */
function nextCursor(text: string, members: readonly Member[]): string | undefined {
  const cursor = members.findLast(({ key }) => key === 'nextCursor');
  const isText = cursor !== undefined && text[cursor.start] === '"';
  return isText ? (JSON.parse(text.slice(cursor.start, cursor.end)) as string) : undefined;
}
