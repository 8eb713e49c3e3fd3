import { Cancellation } from '../../lib/cancellation/cancellation.js';
import { elementsOf } from '../../lib/json-text/json-text.js';

/** Which list changes a listen stream carries. */
export type ListChangeFilter = Readonly<
  Partial<Record<'toolsListChanged' | 'promptsListChanged' | 'resourcesListChanged', true>>
>;

/** If there are more streams, small ones are merged: each stream is a connection, and servers limit their connections. */
const MAX_STREAMS = 8;
/** The first notification on a listen stream. It has the URIs that the server honours. */
export const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
/** Maximum URIs of one `subscriptions/listen`. */
export const MAX_URIS = 10_000;

/** One request `subscriptions/listen`, whose response stream stays open. */
export class ListenStream {
  readonly end = new Cancellation();
  /** The id of the request. The notifications of the server on this stream repeat it. */
  id: number | undefined;
  /** To be called with the JSON text of the URIs that the server honours. Set by the code that opens the stream. */
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

  /**
   * Whether a smaller stream should replace this one, because the server still sends updates of the URIs that were unsubscribed.
   * True if the number of removed URIs is greater than the number of remaining URIs plus a margin, for which `MAX_STREAMS` is
   * used. The margin keeps small streams from being replaced.
   */
  get isStale(): boolean {
    return this.openedUris > 2 * this.uris.size + MAX_STREAMS;
  }

  get params(): string {
    const resourceSubscriptions = this.uris.size > 0 ? [...this.uris] : undefined;
    return JSON.stringify({ notifications: { ...this.filter, resourceSubscriptions } });
  }

  /** Removes the URIs that the server does not honour. `honoured` is the JSON text of the honoured URIs. */
  keepHonoured(honoured = '[]'): void {
    const { uris } = this;
    // Nearly every server honours all URIs, in the order of the request.
    if (honoured === JSON.stringify([...uris])) return;
    const kept = new Set(honoured.startsWith('[') ? stringsIn(honoured) : []);
    for (const uri of uris) if (!kept.has(uri)) uris.delete(uri);
  }
}

/** The strings among the first `MAX_URIS` elements of an array. Other elements are not parsed, because they can be long. */
function* stringsIn(array: string): Iterable<string> {
  let count = 0;
  for (const { start, end } of elementsOf(array)) {
    if (++count > MAX_URIS) return;
    if (array[start] === '"') yield JSON.parse(array.slice(start, end)) as string;
  }
}

/**
 * The streams to merge; empty if there are not too many. The two smallest streams are merged, and then, in the order of size,
 * each stream that is not larger than the sum of the previous ones. A merge therefore usually doubles the size of the stream
 * to which a URI belongs: while 10,000 URIs are subscribed one by one, each URI is sent again about ten times.
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
