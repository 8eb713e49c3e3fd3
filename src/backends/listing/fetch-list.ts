import { detachedCopy, withMember, type JsonText } from '../../lib/json-text/json-text.js';
import { elementSteps, indexed } from '../../lib/json-text/sliced-text.js';
import type { Definition } from '../../core/naming/catalog-entry.js';
import { isJsonObject } from '../../lib/json-text/json-value.js';
import { runSliced, type Steps } from '../../lib/slices/run-sliced.js';
import { sliceScheduler } from '../../lib/slices/slices.js';
import { objectOutputSchema } from '../../mcp/object-output.js';
import { paramHeadersOf } from '../../mcp/param-headers.js';
import { modernToolText } from './modern-tool-text.js';
import { repairDefinition, type ListMember } from './repair-definition.js';
import type { Link } from '../link/link.js';
import { PageComparison, type PageDigests } from './page-digests.js';
import {
  DEFAULT_LIST_LIMITS,
  MAX_CURSOR_LENGTH,
  MAX_KEY_BYTES,
  RESOURCE_LIST_LIMITS,
  TEMPLATE_LIST_LIMITS,
  type ListLimits,
} from './list-limits.js';

interface ListShape {
  /** The member of the result that contains the list. */
  readonly member: ListMember;
  /** The member that identifies an item. */
  readonly key: 'name' | 'uri' | 'uriTemplate';
  readonly limits: ListLimits;
}

const LISTS = {
  'tools/list': { member: 'tools', key: 'name', limits: DEFAULT_LIST_LIMITS },
  'prompts/list': { member: 'prompts', key: 'name', limits: DEFAULT_LIST_LIMITS },
  'resources/list': { member: 'resources', key: 'uri', limits: RESOURCE_LIST_LIMITS },
  'resources/templates/list': {
    member: 'resourceTemplates',
    key: 'uriTemplate',
    limits: TEMPLATE_LIST_LIMITS,
  },
} as const satisfies Record<string, ListShape>;

/** Number of items that are processed between two points where a slice may end. */
const ITEMS_PER_STEP = 64;
/** A slice may also end before an item with more characters. */
const MAX_SHORT_ITEM_LENGTH = 4096;

export type ListMethod = keyof typeof LISTS;

/** The result of fetching one list. */
export interface FetchedList {
  /** All pages are the same as in the previous fetch. `definitions` is empty then, because no item was parsed. */
  readonly isUnchanged?: true;
  /** The digests of the pages, for the next fetch. Absent if the list is incomplete or ended with a repeated cursor. */
  readonly digests?: PageDigests;
  readonly definitions: readonly Definition[];
  /**
   * Number of items that have no usable name, lack a required member, declare a forbidden header, or are too long; absent when
   * there are none.
   */
  readonly leftOut?: number;
  /** Number of tools that can only run as tasks, which the gateway does not serve; absent when there are none. */
  readonly needTasks?: number;
  /** Number of items that were repaired for clients; absent when there are none. */
  readonly repaired?: number;
  /** Why the list is incomplete; absent when it is complete. */
  readonly truncated?: string;
  /** The list ended with a cursor that the server had sent before. The list counts as complete. */
  readonly hasRepeatedCursor?: true;
}

/**
 * Fetches all pages of one list, within the limits. Duplicate items are kept. Cursors are opaque: an empty cursor is followed
 * too. A cursor that the server repeats ends the list, because it leads to pages that were fetched already. If all pages have
 * the digests `previous`, their items are not parsed. Rejects when a page cannot be fetched.
 */
export async function fetchList(
  link: Pick<Link, 'request'> & Partial<Pick<Link, 'sendsParamHeaders'>>,
  method: ListMethod,
  limits: ListLimits = LISTS[method].limits,
  previous?: PageDigests,
): Promise<FetchedList> {
  const yieldIfDue = sliceScheduler.start();
  const builder = new ListBuilder(LISTS[method], limits, link.sendsParamHeaders);
  const comparison = new PageComparison(previous);
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let pageCount = 0; pageCount < limits.maxPages; pageCount++) {
    const params = cursor === undefined ? undefined : JSON.stringify({ cursor });
    const result = await link.request({ method, params, timeoutMs: limits.timeoutMs });
    // Pages of many servers may arrive in one iteration of the event loop. Together, they could block it without this yield.
    await yieldIfDue();
    const page = await runSliced(indexed(result), yieldIfDue);
    for (const pageToRead of comparison.add(page)) await runSliced(builder.addPage(pageToRead), yieldIfDue);
    cursor = nextCursorIn(page);
    if (cursor === undefined && comparison.isUnchanged) return { definitions: [], isUnchanged: true };
    const isLast = cursor === undefined || cursors.has(cursor) || cursor.length > MAX_CURSOR_LENGTH;
    if (isLast)
      for (const heldPage of comparison.takeHeldPages())
        await runSliced(builder.addPage(heldPage), yieldIfDue);
    if (builder.isFull) return builder.build();
    if (cursor === undefined) return { ...builder.build(), digests: comparison.newDigests };
    if (cursors.has(cursor)) return { ...builder.build(), hasRepeatedCursor: true };
    if (cursor.length > MAX_CURSOR_LENGTH) return builder.build('the server has too long a cursor');
    cursors.add(cursor);
    builder.characters += cursor.length;
  }
  return builder.build(`more than ${limits.maxPages} pages`);
}

/** Stands for the definition of a tool that can only run as a task. */
const NEEDS_TASK = 'needs-task';

/** Collects the definitions of all pages of one list, within the limits. */
class ListBuilder {
  /** Characters of the definitions and cursors that are in memory. */
  characters = 0;
  private readonly definitions: Definition[] = [];
  private leftOut = 0;
  private needTasks = 0;
  private repaired = 0;
  /** The limit that was exceeded, as text for operators. */
  private exceededLimit: string | undefined;

  constructor(
    private readonly shape: ListShape,
    private readonly limits: ListLimits,
    /** Whether tool calls repeat arguments in HTTP headers. If so, a tool that declares a forbidden header is left out. */
    private readonly sendsParamHeaders = false,
  ) {}

  get isFull(): boolean {
    return this.exceededLimit !== undefined;
  }

  /** Adds the items of one page, in steps that fit into a slice. */
  *addPage({ text, members }: JsonText): Steps {
    const member = members.findLast(({ key }) => key === this.shape.member);
    if (!member || !text.startsWith('[', member.start)) return;
    const charactersBefore = this.characters;
    const firstIndex = this.definitions.length;
    let items = 0;
    for (const element of elementSteps(text, member.start)) {
      // In a long array, `elementSteps` also yields undefined, where a slice may end.
      if (!element) {
        yield;
        continue;
      }
      const { start, end } = element;
      items++;
      if (items % ITEMS_PER_STEP === 0 || end - start > MAX_SHORT_ITEM_LENGTH) yield;
      this.add(text, start, end);
      if (this.isFull) break;
    }
    // A substring keeps its whole page in memory. If the definitions are less than half of the page, they are copied.
    if ((this.characters - charactersBefore) * 2 >= text.length) return;
    for (let index = firstIndex; index < this.definitions.length; index++) {
      if (index % ITEMS_PER_STEP === 0) yield;
      this.definitions[index] = detached(this.definitions[index]!);
    }
  }

  /** The list so far. `truncated` says why it is incomplete. */
  build(truncated = this.exceededLimit): FetchedList {
    const { definitions, leftOut, needTasks, repaired } = this;
    return {
      definitions,
      ...(leftOut > 0 && { leftOut }),
      ...(needTasks > 0 && { needTasks }),
      ...(repaired > 0 && { repaired }),
      ...(truncated !== undefined && { truncated }),
    };
  }

  private add(page: string, start: number, end: number): void {
    const { maxItems, maxDefinitionLength, maxTotalLength } = this.limits;
    const isTooLong = end - start > maxDefinitionLength;
    const definition = isTooLong ? undefined : this.read(page.slice(start, end));
    if (definition === NEEDS_TASK) this.needTasks++;
    else if (!definition) this.leftOut++;
    else if (this.definitions.length === maxItems) this.exceededLimit = `more than ${maxItems} items`;
    else if (this.characters + lengthOf(definition) > maxTotalLength)
      this.exceededLimit = `more than ${maxTotalLength} characters`;
    else {
      this.definitions.push(definition);
      this.characters += lengthOf(definition);
    }
  }

  /** The definition of one item, valid for clients. Undefined when the item has to be left out. */
  private read(text: string): Definition | typeof NEEDS_TASK | undefined {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value)) return undefined;
    const name = value[this.shape.key];
    if (typeof name !== 'string' || !isUsable(name, this.shape.key)) return undefined;
    if (this.shape.member !== 'tools') return this.repair(name, value, text);
    return needsTask(value) ? NEEDS_TASK : this.readTool(name, value, text);
  }

  private readTool(
    name: string,
    value: Readonly<Record<string, unknown>>,
    text: string,
  ): Definition | undefined {
    const paramHeaders = paramHeadersOf(text, value['inputSchema']);
    if (!paramHeaders && this.sendsParamHeaders) return undefined;
    const wrappedSchema = objectOutputSchema(text, value['outputSchema']);
    const wrapsOutput = wrappedSchema !== undefined;
    const definition = wrapsOutput
      ? this.repair(
          name,
          { ...value, outputSchema: JSON.parse(wrappedSchema) as unknown },
          withMember(text, 'outputSchema', wrappedSchema),
        )
      : this.repair(name, value, text);
    if (!definition) return undefined;
    const modernText = modernToolText(definition.text, text, wrapsOutput);
    return {
      ...definition,
      ...(modernText !== definition.text && { modernText }),
      ...(wrapsOutput && { wrapsOutput }),
      ...(paramHeaders?.length && { paramHeaders }),
    };
  }

  private repair(
    name: string,
    value: Readonly<Record<string, unknown>>,
    text: string,
  ): Definition | undefined {
    const repaired = repairDefinition(this.shape.member, name, text, value);
    if (repaired === undefined) return undefined;
    if (repaired !== text) this.repaired++;
    return this.shape.key === 'name'
      ? { name, text: repaired, ...titleAndDescription(value) }
      : { name, text: repaired };
  }
}

const lengthOf = ({ text, modernText }: Definition): number => text.length + (modernText?.length ?? 0);

/** The definition with copies of its texts, which do not keep the page in memory. */
const detached = (definition: Definition): Definition => ({
  ...definition,
  text: detachedCopy(definition.text),
  ...(definition.modernText !== undefined && { modernText: detachedCopy(definition.modernText) }),
});

function nextCursorIn(page: JsonText): string | undefined {
  const text = page.memberText('nextCursor');
  return text?.startsWith('"') ? (JSON.parse(text) as string) : undefined;
}

function needsTask({ execution }: Readonly<Record<string, unknown>>): boolean {
  return isJsonObject(execution) && execution['taskSupport'] === 'required';
}

const titleAndDescription = ({
  title,
  description,
}: Readonly<Record<string, unknown>>): Partial<Definition> => ({
  ...(typeof title === 'string' && { title }),
  ...(typeof description === 'string' && { description }),
});

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Whether the name, URI or template can identify an item. A URI or template with a lone surrogate cannot: the cursors that the
 * gateway sends to clients contain it in UTF-8, which has no encoding for a lone surrogate. A name with a lone surrogate can,
 * because its public name has no surrogates.
 */
const isUsable = (name: string, key: ListShape['key']): boolean =>
  name !== '' && Buffer.byteLength(name) <= MAX_KEY_BYTES && (key === 'name' || !LONE_SURROGATE.test(name));
