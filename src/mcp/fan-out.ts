import { Injectable, Logger } from '@nestjs/common';
import type { NotificationFrame } from './event-frame.js';
import type { DeliverOptions, Subscriber } from './mcp-context.js';

const SLICE_MS = 8;
/** Maximum number of deliveries in a slice. Also bounds the writes to sockets that Node makes after the slice. */
const MAX_SLICE_DELIVERIES = 512;
/** Maximum number of bytes of these writes. Of a long event, only the first chunk counts, because the rest is written later. */
const MAX_SLICE_BYTES = 2_097_152;
/** Maximum size of the first chunk of an event. */
const MAX_FIRST_BYTES = 65_536;
/** Reading the clock after each delivery would be too expensive. */
const DELIVERIES_PER_CLOCK_READING = 32;
/** When this many notifications wait, the fan-out stops yielding to the event loop, so that no further ones can arrive. */
const MAX_WAITING = 10_000;

/** A notification as an event, with the options of its delivery. */
export interface NotificationEvent extends DeliverOptions {
  readonly frame: NotificationFrame;
}

export type Recipient = Pick<Subscriber, 'deliver'>;

/** One notification for any number of recipients. */
export interface OutgoingNotification {
  /** While this notification waits, a later one with the same key replaces it. Without a key, it is never replaced. */
  readonly key?: string;
  /**
   * Called when the delivery starts. Each recipient is taken from the iterator just before the event is delivered to it, so
   * that the iterator can skip recipients that were closed in the meantime.
   */
  recipients(): Iterator<Recipient>;
  /**
   * Encodes the notification as an event with a new id. Called once per slice: other events may be delivered between
   * two slices, and the event ids that one client receives must increase.
   */
  createEvent(): NotificationEvent;
}

interface Delivery {
  readonly notification: OutgoingNotification;
  /** Undefined until the first recipient is taken. */
  recipients: Iterator<Recipient> | undefined;
}

/**
 * Delivers notifications one after the other, so that every client receives them in order. A delivery starts at once;
 * with many recipients it continues in slices, so that it does not block the event loop.
 */
@Injectable()
export class FanOut {
  private readonly logger = new Logger('FanOut');
  /** The notifications that wait, by key. A notification without a key is its own key. */
  private readonly waiting = new Map<unknown, OutgoingNotification>();
  private current: Delivery | undefined;
  /** The event of the current delivery in the current slice. */
  private event: NotificationEvent | undefined;

  /** Returns false when the notification replaces a waiting one with the same key. */
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
    let bytes = 0;
    this.event = undefined;
    for (;;) {
      this.current ??= this.takeNext();
      if (!this.current) return;
      const size = this.deliverNext(this.current);
      if (size === undefined) {
        this.current = undefined;
        this.event = undefined;
      }
      deliveries++;
      bytes += Math.min(size ?? 0, MAX_FIRST_BYTES);
      const isSliceOver =
        deliveries >= MAX_SLICE_DELIVERIES ||
        bytes >= MAX_SLICE_BYTES ||
        (deliveries % DELIVERIES_PER_CLOCK_READING === 0 && performance.now() - startedAt > SLICE_MS);
      if (isSliceOver && this.current && this.waiting.size < MAX_WAITING) {
        setImmediate(this.runSlice);
        return;
      }
    }
  };

  /** Returns the size of the event; undefined when the delivery is over: no recipient is left, or an error stopped it. */
  private deliverNext(delivery: Delivery): number | undefined {
    const { notification } = delivery;
    try {
      delivery.recipients ??= notification.recipients();
      const next = delivery.recipients.next();
      if (next.done) return undefined;
      this.event ??= notification.createEvent();
      next.value.deliver(this.event.frame, this.event);
      return this.event.frame.size;
    } catch (error) {
      const { key } = notification;
      this.logger.error({ message: 'delivery of a notification stopped', key, cause: String(error) });
      return undefined;
    }
  }

  /** Starts the delivery of the first waiting notification; undefined when none waits. */
  private takeNext(): Delivery | undefined {
    for (const [key, notification] of this.waiting) {
      this.waiting.delete(key);
      return deliveryOf(notification);
    }
    return undefined;
  }
}

const deliveryOf = (notification: OutgoingNotification): Delivery => ({
  notification,
  recipients: undefined,
});
