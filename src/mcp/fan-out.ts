import { Injectable, Logger } from '@nestjs/common';
import type { EventFrame } from './event-frame.js';
import type { DeliverOptions, Subscriber } from './mcp-context.js';

/** Bounds of one slice. The count matters as well: time spent on sockets after the slice is not measured. */
const SLICE_MS = 8;
const MAX_SLICE_DELIVERIES = 512;
/** Beyond this many waiting notifications the fan-out no longer yields: it has to catch up first. */
const MAX_WAITING = 10_000;

/** An encoded notification, with the options of its delivery. */
export interface NotificationEvent extends DeliverOptions {
  readonly frame: EventFrame;
}

export type Recipient = Pick<Subscriber, 'deliver'>;

/** One notification for any number of recipients. */
export interface OutgoingNotification {
  /** While it waits, a later notification with the same key replaces it. Without a key it is never replaced. */
  readonly key?: string;
  /** Called when its delivery starts, and read one by one, so that recipients that left meanwhile can be skipped. */
  recipients(): Iterator<Recipient>;
  /**
   * Called for the first recipient of each slice. Ids of events must count up for each client, and other events may
   * have been delivered since the last slice.
   */
  createEvent(): NotificationEvent;
}

interface Delivery {
  readonly notification: OutgoingNotification;
  readonly recipients: Iterator<Recipient>;
}

/**
 * Delivers notifications to their recipients in the order in which they come, so that no client gets a later one
 * first. Starts at once; a large fan-out continues in slices, so that it does not block the event loop.
 */
@Injectable()
export class FanOut {
  private readonly logger = new Logger('FanOut');
  private readonly waiting = new Map<unknown, OutgoingNotification>();
  private current: Delivery | undefined;
  /** Of the current delivery in the current slice. */
  private event: NotificationEvent | undefined;

  /** False when it replaces a notification that waited under the same key. */
  deliver(notification: OutgoingNotification): boolean {
    if (!this.current) {
      this.current = deliveryOf(notification);
      this.runSlice();
      return true;
    }
    const key = notification.key ?? notification;
    const isNew = !this.waiting.delete(key);
    this.waiting.set(key, notification);
    return isNew;
  }

  private readonly runSlice = (): void => {
    const startedAt = performance.now();
    let deliveries = 0;
    this.event = undefined;
    while ((this.current ??= this.next())) {
      if (!this.deliverNext(this.current)) this.current = this.event = undefined;
      const isOver =
        ++deliveries >= MAX_SLICE_DELIVERIES ||
        ((deliveries & 31) === 0 && performance.now() - startedAt > SLICE_MS);
      if (isOver && this.current && this.waiting.size < MAX_WAITING) {
        setImmediate(this.runSlice);
        return;
      }
    }
  };

  /** False when there is no recipient left. A delivery that throws is over; those behind it go on. */
  private deliverNext({ notification, recipients }: Delivery): boolean {
    try {
      const next = recipients.next();
      if (next.done) return false;
      this.event ??= notification.createEvent();
      next.value.deliver(this.event.frame, this.event);
      return true;
    } catch (error) {
      this.logger.error({ message: 'notification not delivered', cause: String(error) });
      return false;
    }
  }

  private next(): Delivery | undefined {
    for (const [key, notification] of this.waiting) {
      this.waiting.delete(key);
      return deliveryOf(notification);
    }
    return undefined;
  }
}

const deliveryOf = (notification: OutgoingNotification): Delivery => ({
  notification,
  recipients: notification.recipients(),
});
