import type { ServerResponse } from 'node:http';
import { KEEP_ALIVE, type NotificationFrame } from '../../mcp/event-frame.js';
import type { DeliverOptions } from '../../mcp/mcp-context.js';
import { EventQueue } from '../event-queue.js';
import type { StreamObserver } from '../event-stream.js';
import { StreamConnection } from '../stream-connection.js';

const NOTHING = Buffer.alloc(0);

export interface ListenLimits {
  /** Maximum number of queued events. */
  readonly streamQueue: number;
  /** A connection whose client reads nothing for this time is destroyed. */
  readonly streamStuckMs: number;
}

/**
 * Writes the events of one listen stream on its only connection. Events wait in a bounded queue before the stream is
 * open, and while its client reads slowly.
 */
export class ListenWriter {
  /** Undefined while nothing is queued. Most streams never queue an event. */
  private queue: EventQueue<NotificationFrame> | undefined;
  private connection: StreamConnection | undefined;
  /** The event that ends the stream, after the queued events. Once it is set, no further event is accepted. */
  private lastEvent: Buffer | undefined;

  constructor(
    private readonly subscriptionId: Buffer,
    private readonly limits: ListenLimits,
    private readonly observer: StreamObserver,
  ) {}

  get isOpen(): boolean {
    return this.connection !== undefined;
  }

  /** Writes the first event and then the queued events. The headers of the response must have been sent. */
  open(response: ServerResponse, firstEvent: Buffer, onClosed: () => void): void {
    const connection = new StreamConnection(response, this.limits.streamStuckMs, {
      drained: () => this.flush(),
      closed: ({ isStuck, isEnded }) => {
        this.observer.countStreamEnd(isStuck ? 'stuck' : isEnded ? 'finished' : 'left');
        this.connection = undefined;
        this.queue = undefined;
        // From now on, no event is accepted.
        this.lastEvent ??= NOTHING;
        onClosed();
      },
    });
    this.connection = connection;
    connection.write(firstEvent);
    this.flush();
  }

  send(frame: NotificationFrame, options: DeliverOptions): void {
    if (this.lastEvent) return;
    if (this.isWritable) this.write(frame, options);
    else {
      this.queue ??= this.createQueue();
      this.queue.add(frame, options);
    }
  }

  withdraw(isStale: (event: DeliverOptions) => boolean): void {
    // The generator of the queue removes an event when it yields the event, so it must be read to its end.
    if (this.queue) Array.from(this.queue.withdraw(isStale));
  }

  keepAlive(): void {
    if (this.isWritable && !this.lastEvent) this.connection!.write(KEEP_ALIVE);
  }

  /** Ends the response with this event, after the queued events. Idempotent. */
  end(lastEvent: Buffer): void {
    if (this.lastEvent) return;
    this.lastEvent = lastEvent;
    this.flush();
  }

  private get isWritable(): boolean {
    return this.connection?.isBlocked === false;
  }

  private flush(): void {
    for (const { frame, options } of this.queue?.takeWhile(() => this.isWritable) ?? [])
      this.write(frame, options);
    if (this.queue?.size === 0) this.queue = undefined;
    if (this.queue || !this.lastEvent || !this.isWritable) return;
    this.connection!.write(this.lastEvent);
    this.connection!.end();
  }

  private write(frame: NotificationFrame, { onSent }: DeliverOptions): void {
    const [first, ...later] = frame.partsFor(this.subscriptionId);
    this.connection!.write(first, later);
    this.observer.countNotification(frame.kind, 'written');
    onSent?.();
  }

  private createQueue(): EventQueue<NotificationFrame> {
    return new EventQueue<NotificationFrame>(this.limits.streamQueue, ({ frame: { kind } }, outcome) =>
      this.observer.countNotification(kind, outcome),
    );
  }
}
