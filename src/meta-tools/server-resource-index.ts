import { ResourceList, type Resource } from '../core/resources/resource-list.js';
import { SearchIndex } from '../lib/text-index/search-index.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { SingleFlight } from '../lib/queues/single-flight.js';
import { withoutParameters } from './media-types.js';
import { searchFieldsOf, SEARCH_SCHEMA } from './search-fields.js';

/** A resource in the index. An unchanged resource of a new listing keeps its entry, which then refers to the new object. */
export interface IndexedResource {
  resource: Resource;
}

/** Search index of one server's resources, updated incrementally from listing to listing. */
export class ServerResourceIndex {
  readonly index = new SearchIndex<IndexedResource>(SEARCH_SCHEMA, byUri);
  private readonly indexing = new SingleFlight(
    () => this.list === this.current(),
    () => this.synchronize(this.current()),
  );
  private list = ResourceList.NOT_LISTED;
  /** In the order of the list. */
  private indexed: readonly IndexedResource[] = [];

  constructor(private readonly current: () => ResourceList) {}

  /** Resolves when the index has the server's current listing. Works in slices. */
  update(): Promise<void> {
    return this.indexing.bringUpToDate();
  }

  /** Merges two sorted lists to find added, removed and changed resources. */
  private async synchronize(next: ResourceList): Promise<void> {
    const yieldIfDue = sliceScheduler.start();
    const { indexed: old } = this;
    const indexed: IndexedResource[] = [];
    let o = 0;
    for (let step = 0; o < old.length || indexed.length < next.size; step++) {
      if ((step & 63) === 0) await yieldIfDue();
      const was = old[o];
      const is = next.byUri[indexed.length];
      if (was && (!is || was.resource.uri < is.uri)) {
        this.index.remove(was);
        o++;
      } else if (was?.resource.uri === is!.uri) {
        indexed.push(this.replaceEntry(was, is!));
        o++;
      } else indexed.push(this.add(is!));
    }
    this.indexed = indexed;
    this.list = next;
  }

  private replaceEntry(was: IndexedResource, is: Resource): IndexedResource {
    if (was.resource.text !== is.text) {
      this.index.remove(was);
      return this.add(is);
    }
    was.resource = is;
    return was;
  }

  private add(resource: Resource): IndexedResource {
    const fields = searchFieldsOf(resource.text);
    const indexed = { resource };
    this.index.add(indexed, fields, withoutParameters(fields.mimeType));
    return indexed;
  }
}

function byUri({ resource: a }: IndexedResource, { resource: b }: IndexedResource): number {
  return a.uri < b.uri ? -1 : a.uri > b.uri ? 1 : a.server < b.server ? -1 : 1;
}
