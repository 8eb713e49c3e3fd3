import { setTimeout as pause } from 'node:timers/promises';
import { SerialQueue } from '../lib/queues/serial-queue.js';
import { LockClaim } from './lock-claim.js';
import type { Rival } from './lock-rivals.js';
import { LOCK_TIMING } from './lock-timing.js';
import { StateError } from './state-error.js';
import { storageFailure, storageUnavailable } from './storage-failure.js';

const STEP_BACK_MS = 50;

/**
 * Keeps two gateways from using one directory. Everybody first places a claim and then looks for others, so of two who
 * come together at least one sees the other. It cannot stop a process that sleeps between asking and writing for longer
 * than a lease.
 */
export class DirectoryLock {
  private readonly queue = new SerialQueue();
  private claim: LockClaim | undefined;
  private tenure = 0;
  private isReleased = false;

  constructor(
    private readonly directory: string,
    private readonly timing = LOCK_TIMING,
  ) {}

  /**
   * The number of the tenure, which is a new one when the lock was lost in between: then whatever is known of the
   * directory has to be read again. Rejects with a StateError when another gateway is there, and with a storage failure
   * when no claim can be written. Ends with `release`.
   */
  acquire(): Promise<number> {
    return this.queue.run(() => this.ensure());
  }

  /** As `acquire`, for one who is about to write: to them all that matters is that it cannot be done now. */
  async hold(): Promise<number> {
    try {
      return await this.acquire();
    } catch (error) {
      throw storageFailure(error, this.directory);
    }
  }

  release(): Promise<void> {
    this.isReleased = true;
    return this.queue.run(() => this.withdraw());
  }

  private async ensure(): Promise<number> {
    if (this.isReleased) throw storageUnavailable(`${this.directory} is no longer in use`);
    try {
      if (await this.claim?.stands()) return this.tenure;
      await this.withdraw();
      this.claim = await this.contend();
      return ++this.tenure;
    } catch (error) {
      throw error instanceof StateError ? error : storageFailure(error, this.directory);
    }
  }

  private async withdraw(): Promise<void> {
    const { claim } = this;
    this.claim = undefined;
    await claim?.withdraw();
  }

  private async contend(): Promise<LockClaim> {
    const start = performance.now();
    let first: ReadonlySet<string> | undefined;
    for (;;) {
      // Of when it looks: what it saw says nothing of the time that passed since, on a busy machine or a slow disk.
      const waited = performance.now() - start;
      const claim = await LockClaim.place(this.directory, this.timing);
      const rivals = await lookAround(claim);
      if (rivals.length === 0) return claim;
      await claim.withdraw();
      first ??= new Set(rivals.map(({ beat }) => beat));
      const holder = this.holderAmong(rivals, waited, first);
      if (holder) throw this.inUse(holder);
      await pause(STEP_BACK_MS * (0.5 + Math.random()));
    }
  }

  /** One that is there to stay. The claim of who cannot be seen is no proof until it beats: otherwise it runs out. */
  private holderAmong(
    rivals: readonly Rival[],
    waited: number,
    first: ReadonlySet<string>,
  ): Rival | undefined {
    const { contest, lease } = this.timing;
    return rivals.find(({ isSeen, beat }) =>
      isSeen ? waited > contest : waited > lease && !first.has(beat),
    );
  }

  private inUse({ holder }: Rival): StateError {
    return new StateError(
      this.directory,
      `another gateway uses it: process ${holder.pid} on ${holder.host}`,
      'Stop that one, or give this one a stateDir of its own.',
    );
  }
}

async function lookAround(claim: LockClaim): Promise<Rival[]> {
  try {
    return await claim.rivals();
  } catch (error) {
    await claim.withdraw();
    throw error;
  }
}
