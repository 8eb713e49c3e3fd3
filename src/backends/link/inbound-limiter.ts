import { TokenBucket } from '../../lib/token-bucket/token-bucket.js';
import { inputBudget, type IterationBudget } from '../../lib/slices/iteration-budget.js';
import type { InboundGate } from './transport.js';

/** Limits of the unsolicited messages of one link: notifications, requests, and messages that cannot be processed. */
export interface InboundLimits {
  readonly messagesPerSecond: number;
  /** Maximum messages that may arrive at once. */
  readonly burst: number;
  /** Maximum messages that wait because they are beyond the rate. */
  readonly maxWaiting: number;
  /** Maximum characters of these messages together. */
  readonly maxWaitingLength: number;
  /** The share of the time during which the gateway reads from a link that is over its rate. */
  readonly readShare: number;
}

export const INBOUND_LIMITS: InboundLimits = {
  messagesPerSecond: 500,
  burst: 2000,
  maxWaiting: 10_000,
  maxWaitingLength: 4 * 1024 * 1024,
  readShare: 0.05,
};

/** `coalesced`: a later message about the same subject replaces the message. `dropped`: the message is not processed. */
export type ExcessOutcome = 'coalesced' | 'dropped';

interface InboundEvents {
  /** Called with the text of a message that has waited. The listener has to parse it. */
  deliver(text: string): void;
  /** Called for each message beyond the rate that is replaced or dropped. */
  excess(outcome: ExcessOutcome): void;
  /** Called for each malformed message. */
  malformed(): void;
  /** Called when the server is within its rate again, after updates or list changes were dropped. */
  lost(): void;
  /** Called by `expectMessagesSince` with its argument: see `InboundGate`. */
  delayed(time: number): void;
}

/** The interval at which waiting messages are delivered, as far as there are tokens. */
const DELIVERY_INTERVAL_MS = 20;
/** The pause of a link within its rate, so that the event loop handles other events before the link is read further. */
const MIN_PAUSE_MS = 1;
/**
 * The longest pause. It must be shorter than `OUTPUT_TIMEOUT_MS` of the stdio transport: a child's output is read only for that
 * time after the exit of the child.
 */
const MAX_PAUSE_MS = 50;
/** Maximum characters of a message that waits; a longer one is dropped. Most are short: a URI has at most 8 KB. */
export const MAX_WAITING_TEXT_LENGTH = 16_384;

/** The usual beginnings of a notification or request, with the method as first group. No response matches. */
const UNSOLICITED =
  /^\s*\{\s*(?:"(?:jsonrpc|id)"\s*:\s*(?:"[^"\\]*"|-?\d+|null)\s*,\s*)*"method"\s*:\s*"([^"\\]*)"/;
const UPDATED = 'notifications/resources/updated';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const PROGRESS = 'notifications/progress';
const URI = /"uri"\s*:\s*("(?:[^"\\]|\\.)*")/;
const PROGRESS_TOKEN = /"progressToken"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)/;
/** By method: matches the member whose value is the subject of a message with this method. The value is the first group. */
const SUBJECT_MEMBERS: ReadonlyMap<string, RegExp> = new Map([
  [UPDATED, URI],
  [PROGRESS, PROGRESS_TOKEN],
]);

/**
 * Limits the rate of unsolicited messages of one link with a token bucket. Beyond the rate, the last update of each
 * resource, the last progress of each call and list changes wait for a token; other messages are dropped. Most messages
 * beyond the rate are not even parsed, and the transport pauses, so that backpressure reaches the server.
 */
export class InboundLimiter implements InboundGate {
  private readonly rate: TokenBucket;
  /** By subject: the text of the message that waits. */
  private readonly waiting = new Map<string, string>();
  private waitingLength = 0;
  private timer: NodeJS.Timeout | undefined;
  /** True while waiting messages are delivered: `accepts` must not make them wait again. */
  private isDelivering = false;
  /** Whether an update or list change was dropped. */
  private hasLost = false;
  private isStopped = false;
  /** The fraction of a millisecond by which the last pause was too short, because timers count whole milliseconds. */
  private unpausedMs = 0;
  /** Number of acknowledgements that the gateway expects. The rate does not limit them, because they are solicited. */
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

  /** To be called for every parsed notification and request. Returns false when the message must not be processed now. */
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
    const pauseMsPerReadMs = 1 / this.limits.readShare - 1;
    const exactPauseMs = Math.min(MAX_PAUSE_MS, this.unpausedMs + ms * pauseMsPerReadMs);
    const pauseMs = Math.floor(exactPauseMs);
    this.unpausedMs = exactPauseMs - pauseMs;
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
    // The next tokens are for the messages that wait.
    return this.waiting.size > 0 || this.rate.isEmpty;
  }

  private isAwaited(method: string): boolean {
    return this.awaitedAcknowledgements > 0 && method === ACKNOWLEDGED;
  }

  /** Makes a message beyond the rate wait, or drops it. */
  private addExcess(method: string, text: string): void {
    const subject = subjectOf(method, text);
    const replaced = subject === undefined ? undefined : this.waiting.get(subject);
    const length = this.waitingLength + text.length - (replaced?.length ?? 0);
    const mayWait = replaced !== undefined || this.waiting.size < this.limits.maxWaiting;
    if (subject === undefined || !mayWait || length > this.limits.maxWaitingLength) {
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

/** The subject of a message: a later message with the same subject replaces it. Undefined if no message can replace it. */
function subjectOf(method: string, text: string): string | undefined {
  if (text.length > MAX_WAITING_TEXT_LENGTH) return undefined;
  if (isListChange(method)) return method;
  const value = SUBJECT_MEMBERS.get(method)?.exec(text)?.[1];
  return value === undefined ? undefined : `${method} ${value}`;
}
