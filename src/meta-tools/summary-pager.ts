import { Cursors } from '../core/catalog/cursors.js';
import type { Scope } from '../core/scope.js';
import type { CursorKey } from '../state/cursor-key.js';
import type { ToolArguments } from './tool-arguments.js';

interface SummaryPage<Summary> {
  readonly summaries: readonly Summary[];
  /** Empty on the last page. */
  readonly more: { readonly nextCursor?: string };
}

/** The items of a catalog, sorted by key. */
interface ItemSource<Item, Summary> {
  /** The first items after a key, at most `count`. */
  readonly find: (after: string, count: number) => Iterable<Item>;
  readonly keyOf: (item: Item) => string;
  readonly summarize: (item: Item) => Summary;
}

/**
 * Divides the summaries of a meta tool into pages. A cursor contains the key of the last item of its page, so that it
 * stays valid when the catalog changes.
 */
export class SummaryPager {
  private readonly cursors: Cursors;

  constructor(
    readonly pageSize: number,
    key: CursorKey,
  ) {
    this.cursors = new Cursors(key.derive('meta tools'));
  }

  /**
   * The page for a call of the meta tool `tool` with these arguments. Throws if the cursor in the arguments is for another
   * tool, scope or server.
   */
  page<Item, Summary>(
    tool: string,
    scope: Scope,
    args: ToolArguments,
    { find, keyOf, summarize }: ItemSource<Item, Summary>,
  ): SummaryPage<Summary> {
    const listKey = JSON.stringify([tool, scope.key, args.serverId ?? '']);
    const after = args.cursor === undefined ? '' : this.cursors.verify(listKey, args.cursor);
    const size = args.pageSize(this.pageSize);
    const found = [...find(after, size + 1)];
    const items = found.slice(0, size);
    const last = items.at(-1);
    const more =
      last !== undefined && found.length > items.length
        ? { nextCursor: this.cursors.sign(listKey, keyOf(last)) }
        : {};
    return { summaries: items.map(summarize), more };
  }
}
