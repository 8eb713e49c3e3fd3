import { availableParallelism } from 'node:os';
import { TransportError } from '../link/transport.js';

/** After this time, a server that has not started yet releases its slot, so that other servers can start. */
const MAX_HOLD_MS = 3000;
const SERVERS_PER_CORE = 2;

/** Limits how many servers start at the same time. Further servers wait for a slot, in the order in which they asked for one. */
export class StartSlots {
  /** For each server that waits: the function that gives it a slot. */
  private readonly queue = new Set<() => void>();
  private freeSlots: number;
  private isOpen = false;

  constructor(limit = availableParallelism() * SERVERS_PER_CORE) {
    this.freeSlots = limit;
  }

  /** Slots without a limit, which are open from the beginning. */
  static unlimited(): StartSlots {
    const slots = new StartSlots(Infinity);
    slots.open();
    return slots;
  }

  /** To be called when the gateway listens. No server starts before. */
  open(): void {
    this.isOpen = true;
    this.startNext();
  }

  /** Number of servers that wait for a slot. */
  get waiting(): number {
    return this.queue.size;
  }

  /**
   * Calls `start` when a slot is free, and settles as its promise does. The slot is free again when the promise settles, or
   * after `MAX_HOLD_MS`. Rejects if the signal is aborted before `start` is called.
   */
  async run<T>(start: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.isOpen && this.freeSlots > 0) this.freeSlots--;
    else await this.waitForSlot(signal);
    let isHeld = true;
    const release = (): void => {
      clearTimeout(timer);
      if (isHeld) this.freeSlots++;
      isHeld = false;
      this.startNext();
    };
    const timer = setTimeout(release, MAX_HOLD_MS).unref();
    return start().finally(release);
  }

  private waitForSlot(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.queue.delete(giveSlot);
        reject(new TransportError('unreachable', 'it is being stopped'));
      };
      const giveSlot = (): void => {
        signal.removeEventListener('abort', abort);
        resolve();
      };
      this.queue.add(giveSlot);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  private startNext(): void {
    for (const giveSlot of this.queue) {
      if (!this.isOpen || this.freeSlots <= 0) return;
      this.freeSlots--;
      this.queue.delete(giveSlot);
      giveSlot();
    }
  }
}
