import { createHash } from 'node:crypto';
import type { Definition } from '../../core/naming/catalog-entry.js';
import { UNFETCHED_LISTING } from '../../core/catalog/catalog.js';
import { ResourceList } from '../../core/resources/resource-list.js';
import type { ResourceTemplate } from '../../core/resources/resource-template.js';
import type { Lists } from './list-kinds.js';

type List = readonly Definition[] | readonly ResourceTemplate[] | ResourceList;

/** Keeps equal lists of several sessions at one server in memory only once. */
export class ListDeduplicator {
  /** The lists in use, by the digest of kind and definitions. */
  private readonly byDigest = new Map<string, WeakRef<List>>();
  private readonly finalizers = new FinalizationRegistry((digest: string) => {
    // A later list with the same digest may have taken the place of the collected list.
    if (!this.byDigest.get(digest)?.deref()) this.byDigest.delete(digest);
  });

  /** Replaces each list by an equal list, if the shared link or another link owner has one. */
  deduplicate(lists: Partial<Lists>, sharedListing: Lists | undefined): Partial<Lists> {
    const deduplicated: Record<string, List> = {};
    for (const [kind, list] of Object.entries(lists) as [keyof Lists, List][])
      deduplicated[kind] = this.deduplicateList(kind, list, sharedListing?.[kind]);
    return deduplicated;
  }

  private deduplicateList(kind: keyof Lists, list: List, sharedList: List | undefined): List {
    if (!wasFetched(kind, list)) return list;
    if (sharedList && isSameList(list, sharedList)) return sharedList;
    const hash = createHash('sha256').update(kind);
    for (const { text } of itemsOf(list)) hash.update('\0').update(text);
    const digest = hash.digest('base64url');
    const equalList = this.byDigest.get(digest)?.deref();
    if (equalList) return equalList;
    this.byDigest.set(digest, new WeakRef(list));
    this.finalizers.register(list, digest);
    return list;
  }
}

/** Whether two lists have the same definitions in the same order. */
export function isSameList(a: List, b: List): boolean {
  if (a === b) return true;
  const [itemsA, itemsB] = [itemsOf(a), itemsOf(b)];
  return itemsA.length === itemsB.length && itemsA.every(({ text }, index) => text === itemsB[index]!.text);
}

const itemsOf = (list: List): readonly { readonly text: string }[] =>
  list instanceof ResourceList ? list.byUri : list;

/** Whether the list was fetched. An unfetched list is an object in `UNFETCHED_LISTING`; an empty fetched list is not. */
export const wasFetched = (kind: keyof Lists, list: List): boolean => list !== UNFETCHED_LISTING[kind];
