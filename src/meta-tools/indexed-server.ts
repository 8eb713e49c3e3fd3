import { ResourceList, type Resource } from '../core/resources/resource-list.js';
import { SearchIndex } from '../lib/text-index/search-index.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { SingleFlight } from '../lib/queues/single-flight.js';
import { bareType } from './mime-types.js';
import { fieldsOf, SEARCH_SCHEMA } from './search-fields.js';

/** A resource in the index. One that a new list has as it was stays there, and only stands for the new one. */
export interface IndexedResource {
  resource: Resource;
}

/** The index of one server, and the list it was last brought in step with. */
export class IndexedServer {
  readonly index = new SearchIndex<IndexedResource>(SEARCH_SCHEMA, byUri);
  private readonly indexing = new SingleFlight(
    () => this.list === this.current(),
    () => this.replace(this.current()),
  );
  private list = ResourceList.EMPTY;
  /** In the order of the list. */
  private indexed: readonly IndexedResource[] = [];

  constructor(private readonly current: () => ResourceList) {}

  /** Resolves when the index has what the server lists now. Gives way while it works. */
  update(): Promise<void> {
    return this.indexing.bringUpToDate();
  }

  /** Both are sorted: what is only in one of them is found by walking along both. */
  private async replace(next: ResourceList): Promise<void> {
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
        indexed.push(this.renew(was, is!));
        o++;
      } else indexed.push(this.add(is!));
    }
    this.indexed = indexed;
    this.list = next;
  }

  private renew(was: IndexedResource, is: Resource): IndexedResource {
    if (was.resource.text !== is.text) {
      this.index.remove(was);
      return this.add(is);
    }
    was.resource = is;
    return was;
  }

  private add(resource: Resource): IndexedResource {
    const fields = fieldsOf(resource.text);
    const indexed = { resource };
    this.index.add(indexed, fields, bareType(fields.mimeType));
    return indexed;
  }
}

function byUri({ resource: a }: IndexedResource, { resource: b }: IndexedResource): number {
  return a.uri < b.uri ? -1 : a.uri > b.uri ? 1 : a.server < b.server ? -1 : 1;
}
