import { ResourceList, type Resource } from '../core/resources/resource-list.js';
import { SearchIndex } from '../lib/text-index/search-index.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { SingleFlight } from '../lib/queues/single-flight.js';
import { withoutParameters } from './media-types.js';
import { splitDescription, searchFieldsOf, SEARCH_SCHEMA } from './search-fields.js';

/** An entry of the index. If a new listing has the same resource unchanged, its entry stays in the index. */
export interface IndexedResource {
  /** The resource in the listing that was indexed last. */
  resource: Resource;
}

const STEPS_PER_YIELD = 64;

/** Search index of one server's resources. An update indexes only the resources that changed since the last listing. */
export class ServerResourceIndex {
  readonly index = new SearchIndex<IndexedResource>(SEARCH_SCHEMA, byUriAndServer);
  /** Brings `index` up to date with the current list. Concurrent searches share one run. */
  private readonly indexing = new SingleFlight(
    () => this.indexedList === this.currentList(),
    () => this.synchronize(this.currentList()),
  );
  private indexedList = ResourceList.NOT_LISTED;
  /** The entries of the index, in the order of `indexedList`. */
  private entries: readonly IndexedResource[] = [];

  constructor(private readonly currentList: () => ResourceList) {}

  /** Resolves when the index has the server's current listing. Works in slices. */
  update(): Promise<void> {
    return this.indexing.bringUpToDate();
  }

  /**
   * Walks through the old entries and the new list, both sorted by URI, to find added, removed and changed resources.
   */
  private async synchronize(list: ResourceList): Promise<void> {
    const yieldIfDue = sliceScheduler.start();
    const oldEntries = this.entries;
    const newEntries: IndexedResource[] = [];
    let oldPosition = 0;
    for (let step = 0; oldPosition < oldEntries.length || newEntries.length < list.size; step++) {
      if (step % STEPS_PER_YIELD === 0) await yieldIfDue();
      const entry = oldEntries[oldPosition];
      const resource = list.byUri[newEntries.length];
      if (entry && (!resource || entry.resource.uri < resource.uri)) {
        this.index.remove(entry);
        oldPosition++;
      } else if (entry?.resource.uri === resource!.uri) {
        newEntries.push(this.updateEntry(entry, resource!));
        oldPosition++;
      } else newEntries.push(this.add(resource!));
    }
    this.entries = newEntries;
    this.indexedList = list;
  }

  private updateEntry(entry: IndexedResource, resource: Resource): IndexedResource {
    if (entry.resource.text !== resource.text) {
      this.index.remove(entry);
      return this.add(resource);
    }
    entry.resource = resource;
    return entry;
  }

  private add(resource: Resource): IndexedResource {
    const fields = searchFieldsOf(resource.text);
    const entry = { resource };
    this.index.add(
      entry,
      { ...fields, ...splitDescription(fields.description) },
      withoutParameters(fields.mimeType),
    );
    return entry;
  }
}

function byUriAndServer({ resource: a }: IndexedResource, { resource: b }: IndexedResource): number {
  if (a.uri !== b.uri) return a.uri < b.uri ? -1 : 1;
  return a.server < b.server ? -1 : 1;
}
