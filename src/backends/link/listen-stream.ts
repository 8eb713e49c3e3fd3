import { Cancellation } from '../../lib/cancellation/cancellation.js';
import { elementsOf } from '../../lib/json-text/json-text.js';

/** Which list changes a listen stream carries. */
export type ListChangeFilter = Readonly<
  Partial<Record<'toolsListChanged' | 'promptsListChanged' | 'resourcesListChanged', true>>
>;

/** If there are more streams, small ones are merged: each is a connection, and servers limit their number. */
const MAX_STREAMS = 8;
/** With this notification, a server says which URIs it honours. */
export const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
/** Maximum URIs of one `subscriptions/listen`. */
export const MAX_URIS = 10_000;

/** One request `subscriptions/listen`, whose response stream stays open. */
export class ListenStream {
  readonly end = new Cancellation();
  /** The id of the request, with which the server marks its notifications. */
  id: number | undefined;
  /** Called with the JSON text of the URIs that the server honours. */
  acknowledge!: (honoured: string | undefined) => void;
  /** How many URIs the stream had when it was opened. */
  readonly openedUris: number;

  constructor(
    readonly filter: ListChangeFilter | undefined,
    readonly uris: Set<string>,
  ) {
    this.openedUris = uris.size;
  }

  get isEmpty(): boolean {
    return this.uris.size === 0 && !this.filter;
  }

  /** Whether most of its URIs were unsubscribed since it was opened: the server still sends their updates. */
  get isStale(): boolean {
    return this.openedUris > 2 * this.uris.size + MAX_STREAMS;
  }

  get params(): string {
    const resourceSubscriptions = this.uris.size > 0 ? [...this.uris] : undefined;
    return JSON.stringify({ notifications: { ...this.filter, resourceSubscriptions } });
  }

  /** Drops the URIs that the server left out. `honoured` is the JSON text of the others. */
  keepHonoured(honoured = '[]'): void {
    const { uris } = this;
    // Nearly always the server repeats what it was asked for.
    if (honoured === JSON.stringify([...uris])) return;
    const kept = new Set(honoured.startsWith('[') ? stringsIn(honoured) : []);
    for (const uri of uris) if (!kept.has(uri)) uris.delete(uri);
  }
}

/** The strings in an array. The rest is not parsed, and not more than `MAX_URIS` elements: the text can be long. */
function* stringsIn(array: string): Iterable<string> {
  let count = 0;
  for (const { start, end } of elementsOf(array)) {
    if (++count > MAX_URIS) return;
    if (array[start] === '"') yield JSON.parse(array.slice(start, end)) as string;
  }
}

/**
 * The streams to merge, if there are too many: the two smallest, and each further one, in the order of size, that is not
 * larger than the sum of those before it. So a merge usually doubles the stream of a URI, and each URI is sent again about ten
 * times while 10,000 are subscribed.
 */
export function mergeableOf(streams: ReadonlySet<ListenStream>): ListenStream[] {
  if (streams.size <= MAX_STREAMS) return [];
  const merged: ListenStream[] = [];
  let total = 0;
  for (const stream of [...streams].toSorted((a, b) => a.uris.size - b.uris.size)) {
    const { size } = stream.uris;
    if (total + size > MAX_URIS || (merged.length >= 2 && size > total)) break;
    merged.push(stream);
    total += size;
  }
  return merged.length >= 2 ? merged : [];
}
