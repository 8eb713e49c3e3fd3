import { Injectable } from '@nestjs/common';
import { Limits } from '../config/limits.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import { PageCache, type ListPage, type Paged } from '../core/catalog/list-page.js';
import { Cursors } from '../core/catalog/cursors.js';
import type { Era } from '../core/errors.js';
import type { Scope } from '../core/scope.js';
import { runSliced } from '../lib/slices/run-sliced.js';
import { sliceScheduler, type Yield } from '../lib/slices/slices.js';
import { Metrics } from '../metrics/metrics.js';
import { CursorKey } from '../state/cursor-key.js';

/** Serves lists in pages. A cursor is signed for one list and one scope, and refused for any other list or scope. */
@Injectable()
export class ListPages {
  private readonly cursors: Cursors;
  /** Each page is built and encoded once, and reused for every client. */
  private readonly cache: PageCache;

  constructor(
    private readonly limits: Limits,
    key: CursorKey,
    metrics: Metrics = new Metrics(),
  ) {
    this.cache = new PageCache(undefined, () => metrics.countMemoryLimit('list-pages'));
    this.cursors = new Cursors(key.derive('lists'));
  }

  /**
   * The page after a cursor, or the first page without a cursor. `member` is the key of the list in the result. Clients of both
   * eras share a page, unless an entry of the page differs between the eras.
   */
  page(
    member: string,
    list: Paged,
    scope: Scope,
    cursor: unknown,
    era: Era = '2025',
  ): JsonText | Promise<JsonText> {
    const listKey = `${member}\0${scope.key}`;
    const after = cursor === undefined ? '' : this.cursors.verify(listKey, cursor);
    const signCursor = (position: string): string => this.cursors.sign(listKey, position);
    const sorting = list.prepare(startSlices);
    if (sorting) return sorting.then(() => this.page(member, list, scope, cursor, era));
    const pageFor = (pageEra: Era): ListPage | Promise<ListPage> =>
      // The key contains the member, because an empty list of tools and an empty list of prompts are the same object.
      this.cache.get(list, `${member}\0${pageEra}\0${after}`, () =>
        runSliced(
          list.page({ member, after, size: this.limits.pageSize, signCursor, era: pageEra }),
          startSlices(),
        ),
      );
    const sharedPage = pageFor('2025');
    if (era === '2025') return sharedPage;
    const modernPage = (shared: ListPage): ListPage | Promise<ListPage> =>
      shared.differsByEra ? pageFor('2026') : shared;
    return sharedPage instanceof Promise ? sharedPage.then(modernPage) : modernPage(sharedPage);
  }
}

const startSlices = (): Yield => sliceScheduler.start();
