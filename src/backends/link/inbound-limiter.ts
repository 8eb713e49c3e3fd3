import { TokenBucket } from '../../lib/token-bucket/token-bucket.js';
import { inputBudget, type IterationBudget } from '../../lib/slices/iteration-budget.js';
import type { InboundGate } from './transport.js';

/** Limits of the unsolicited messages of one link: notifications, requests, and messages that cannot be processed. */
export interface InboundLimits {
  readonly messagesPerSecond: number;
  /** How many messages may arrive at once. */
  readonly burst: number;
  /** Maximum messages that wait because they are beyond the rate, and their maximum characters together. */
  readonly maxWaiting: number;
  readonly maxWaitingLength: number;
  /** The part of the time for which a link over its rate is read. */
  readonly readShare: number;
}

export const INBOUND_LIMITS: InboundLimits = {
  messagesPerSecond: 500,
  burst: 2000,
  maxWaiting: 10_000,
  maxWaitingLength: 4 * 1024 * 1024,
  readShare: 0.05,
};

/** `coalesced`: replaced by a later message about the same subject. `dropped`: not processed at all. */
export type ExcessOutcome = 'coalesced' | 'dropped';

interface InboundEvents {
  /** Delivers a message that has waited. The text was not parsed. */
  deliver(text: string): void;
  /** Counts a message beyond the rate. */
  excess(outcome: ExcessOutcome): void;
  /** Counts a malformed message. */
  malformed(): void;
  /** Called when the server is within its rate again, after updates or list changes were dropped. */
  lost(): void;
  /** Called when a stream is read late: messages that are read from now on may have been sent since `time`. */
  delayed(time: number): void;
}

const DELIVERY_INTERVAL_MS = 20;
/** Lets the event loop handle other events before the next piece is read. */
const MIN_PAUSE_MS = 1;
/** Shorter than the time for which the output of a child is read after its exit. */
const MAX_PAUSE_MS = 50;
/** Longer messages do not wait. A URI has at most 8 KB. */
export const MAX_WAITING_TEXT_LENGTH = 16_384;

/** The usual beginnings of a notification or request. No response matches. */
const UNSOLICITED =
  /^\s*\{\s*(?:"(?:jsonrpc|id)"\s*:\s*(?:"[^"\\]*"|-?\d+|null)\s*,\s*)*"method"\s*:\s*"([^"\\]*)"/;
const UPDATED = 'notifications/resources/updated';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const PROGRESS = 'notifications/progress';
const URI = /"uri"\s*:\s*("(?:[^"\\]|\\.)*")/;
const PROGRESS_TOKEN = /"progressToken"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)/;

/**
 * Limits the rate of unsolicited messages of one link with a token bucket. Beyond the rate, the last update of each
 * resource, the last progress of each call and list changes wait for a token; other messages are dropped. Most messages
 * beyond the rate are not even parsed, and the transport pauses, so that backpressure reaches the server.
 */
export class InboundLimiter implements InboundGate {
  private readonly rate: TokenBucket;
  /** By subject, in the order of arrival. */
  private readonly waiting = new Map<string, string>();
  private waitingLength = 0;
  private timer: NodeJS.Timeout | undefined;
  private isDelivering = false;
  private hasLost = false;
  private isStopped = false;
  /** The fraction of a millisecond by which the last pause was too short: timers take whole ones. Added to the next pause. */
  private duePauseMs = 0;
  /** How many acknowledgements of subscriptions are awaited. They are solicited, and not limited. */
  awaitedAcknowledgements = 0;

  constructor(
    private readonly events: InboundEvents,
    private readonly limits: InboundLimits = INBOUND_LIMITS,
    private readonly budget: IterationBudget = inputBudget,
  ) {
    const { burst, messagesPerSecond } = limits;
    this.rate = new TokenBucket({ burst, refill: 1, intervalMs: 1000 / messagesPerSecond });
  }

  admits(text: string): boolean {
    if (!this.isOverRate) return true;
    const method = UNSOLICITED.exec(text)?.[1];
    if (method === undefined || this.isAwaited(method)) return true;
    this.addExcess(method, text);
    return false;
  }

  /** To be called for every parsed notification and request. False when the message must not be processed. */
  accepts(method: string, message: { readonly text: string }): boolean {
    if (!this.isDelivering && this.isOverRate && !this.isAwaited(method)) {
      this.addExcess(method, message.text);
      return false;
    }
    this.charge();
    return true;
  }

  chargeMalformed(): void {
    this.events.malformed();
    this.charge();
  }

  /** Counts a message against the rate. */
  charge(): void {
    this.rate.take();
  }

  pauseAfter(ms: number): number {
    const isBudgetUsed = this.budget.charge(ms);
    if (!this.isOverRate) return isBudgetUsed ? MIN_PAUSE_MS : 0;
    const dueMs = this.duePauseMs + ms * (1 / this.limits.readShare - 1);
    const pauseMs = Math.floor(Math.min(MAX_PAUSE_MS, dueMs));
    this.duePauseMs = Math.min(MAX_PAUSE_MS, dueMs) - pauseMs;
    return pauseMs;
  }

  expectMessagesSince(time: number): void {
    this.events.delayed(time);
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    this.waiting.clear();
  }

  get isOverRate(): boolean {
    // Waiting messages get the next tokens.
    return this.waiting.size > 0 || this.rate.isEmpty;
  }

  private isAwaited(method: string): boolean {
    return this.awaitedAcknowledgements > 0 && method === ACKNOWLEDGED;
  }

  private addExcess(method: string, text: string): void {
    const subject = subjectOf(method, text);
    const replaced = subject === undefined ? undefined : this.waiting.get(subject);
    const length = this.waitingLength + text.length - (replaced?.length ?? 0);
    const hasSpace = replaced !== undefined || this.waiting.size < this.limits.maxWaiting;
    if (subject === undefined || !hasSpace || length > this.limits.maxWaitingLength) {
      this.hasLost ||= method === UPDATED || isListChange(method);
      this.events.excess('dropped');
      return;
    }
    this.waiting.set(subject, text);
    this.waitingLength = length;
    this.scheduleDelivery();
    if (replaced) this.events.excess('coalesced');
  }

  private scheduleDelivery(): void {
    if (!this.isStopped) this.timer ??= setTimeout(() => this.deliverWaiting(), DELIVERY_INTERVAL_MS).unref();
  }

  private deliverWaiting(): void {
    this.timer = undefined;
    this.isDelivering = true;
    for (const [subject, text] of this.waiting) {
      if (this.rate.isEmpty) break;
      this.waiting.delete(subject);
      this.waitingLength -= text.length;
      this.events.deliver(text);
    }
    this.isDelivering = false;
    if (this.waiting.size > 0) this.scheduleDelivery();
    else if (this.hasLost) {
      this.hasLost = false;
      this.events.lost();
    }
  }
}

const isListChange = (method: string): boolean => method.endsWith('/list_changed');

/** Of two messages with the same subject, the later one suffices. Undefined for a message that no later one replaces. */
function subjectOf(method: string, text: string): string | undefined {
  if (text.length > MAX_WAITING_TEXT_LENGTH) return undefined;
  if (isListChange(method)) return method;
  const member = method === UPDATED ? URI : method === PROGRESS ? PROGRESS_TOKEN : undefined;
  const value = member?.exec(text)?.[1];
  return value === undefined ? undefined : `${method} ${value}`;
}
