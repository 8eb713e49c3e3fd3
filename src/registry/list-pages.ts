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

/** Serves lists in pages. A cursor is signed for one list and scope, and refused for any other. */
@Injectable()
export class ListPages {
  private readonly cursors: Cursors;
  /** A page is built and encoded once, and reused for every client. */
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
   * The page after a cursor, or the first page. `member` is the name of the list in the result. Clients of both eras share a
   * page, unless it has entries that differ.
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
    const prepared = list.prepare(startSlices);
    if (prepared) return prepared.then(() => this.page(member, list, scope, cursor, era));
    const pageOf = (wanted: Era): ListPage | Promise<ListPage> =>
      // The key contains the member, because an empty list of tools and one of prompts are the same object.
      this.cache.get(list, `${member}\0${wanted}\0${after}`, () =>
        runSliced(
          list.page({ member, after, size: this.limits.pageSize, signCursor, era: wanted }),
          startSlices(),
        ),
      );
    const page = pageOf('2025');
    if (era === '2025') return page;
    const orModern = (usual: ListPage): ListPage | Promise<ListPage> =>
      usual.differsByEra ? pageOf('2026') : usual;
    return page instanceof Promise ? page.then(orModern) : orModern(page);
  }
}

const startSlices = (): Yield => sliceScheduler.start();
