import { describe, expect, it } from '@jest/globals';
import { ListPage } from '../core/catalog/list-page.js';
import { ListReads, type UnfinishedList } from './list-reads.js';

const pageOf = (size: number, place: { isFirst?: boolean; hasMore?: boolean }): ListPage =>
  new ListPage('{}', Buffer.from('{}'), size, place.isFirst ?? false, place.hasMore ?? false);

const FIRST = pageOf(3, { isFirst: true, hasMore: true });
const MIDDLE = pageOf(2, { hasMore: true });
const LAST = pageOf(1, {});
const ONLY = pageOf(1, { isFirst: true });

function readLists() {
  const reported: UnfinishedList[] = [];
  const reads = new ListReads();
  reads.onUnfinished((list) => reported.push(list));
  const serve = (page: ListPage, now = 0, method = 'tools/list'): void => reads.pageServed(method, page, now);
  return { reads, reported, serve };
}

describe('ListReads', () => {
  it('reports nothing for a list that is read to its end', () => {
    const { reads, reported, serve } = readLists();
    for (const page of [FIRST, MIDDLE, LAST, ONLY]) serve(page);
    reads.checkNextPages(100_000);
    reads.close();
    expect([reported, reads.unfinished]).toEqual([[], []]);
  });

  it('reports a list whose next page is not requested within ten seconds, once', () => {
    const { reads, reported, serve } = readLists();
    serve(FIRST);
    serve(MIDDLE, 5000);
    reads.checkNextPages(14_999);
    expect([reported, reads.unfinished]).toEqual([[], []]);
    reads.checkNextPages(15_000);
    reads.checkNextPages(50_000);
    reads.close();
    expect(reported).toEqual([{ method: 'tools/list', entries: 5 }]);
    expect(reads.unfinished).toEqual(reported);
  });

  it('reports a list that the client starts again before its end', () => {
    const { reported, serve } = readLists();
    for (const page of [FIRST, FIRST, MIDDLE, FIRST, MIDDLE, LAST]) serve(page);
    expect(reported.map(({ entries }) => entries)).toEqual([3, 5]);
  });

  it('reports a list at the end of the session', () => {
    const { reads, reported, serve } = readLists();
    serve(FIRST);
    serve(FIRST, 0, 'resources/list');
    reads.close();
    expect(reported.map(({ method }) => method)).toEqual(['tools/list', 'resources/list']);
  });

  it('has no unfinished list after a client that paused has read on to the end', () => {
    const { reads, reported, serve } = readLists();
    serve(FIRST);
    reads.checkNextPages(20_000);
    serve(MIDDLE, 30_000);
    reads.checkNextPages(50_000);
    expect(reads.unfinished).toEqual([{ method: 'tools/list', entries: 5 }]);
    serve(LAST, 60_000);
    expect([reported.length, reads.unfinished]).toEqual([1, []]);
  });
});
