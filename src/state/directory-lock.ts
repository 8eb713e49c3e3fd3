import { setTimeout as pause } from 'node:timers/promises';
import { SerialQueue } from '../lib/queues/serial-queue.js';
import type { CompetingClaim } from './competing-claims.js';
import { LockClaim, type LockTiming } from './lock-claim.js';
import { StateError } from './state-error.js';
import { storageFailure, storageUnavailable } from './storage-failure.js';

const LOCK_TIMING: LockTiming = { heartbeatMs: 2_000, leaseMs: 7_000, contentionMs: 300 };
const RETRY_DELAY_MS = 50;

/**
 * Mutex between gateway processes that share a directory. Each process first writes its claim and then reads the claims of
 * others, so that of two concurrent processes at least one sees the other. The lock cannot stop a process that acquires it,
 * is suspended for longer than a lease, and then writes.
 */
export class DirectoryLock {
  private readonly queue = new SerialQueue();
  private claim: LockClaim | undefined;
  /** Number of the current term: see `acquire`. */
  private term = 0;
  private isReleased = false;

  constructor(
    private readonly directory: string,
    private readonly timing = LOCK_TIMING,
  ) {}

  /**
   * Acquires the lock unless this process holds it already, and resolves with the number of the current term. A term is a
   * period in which this process holds the lock without interruption. A higher number than at the last call means that the
   * lock was lost in between, so the caller has to read the directory again. Rejects with a StateError when another gateway
   * holds the lock, and with a storage failure when no claim can be written.
   */
  acquire(): Promise<number> {
    return this.queue.run(() => this.ensureHeld());
  }

  /** Like `acquire`, but rejects with a storage failure also when another gateway holds the lock. */
  async acquireForWrite(): Promise<number> {
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

  private async ensureHeld(): Promise<number> {
    if (this.isReleased) throw storageUnavailable(`the lock on ${this.directory} has been released`);
    try {
      if (await this.claim?.isHeld()) return this.term;
      await this.withdraw();
      this.claim = await this.compete();
      return ++this.term;
    } catch (error) {
      throw error instanceof StateError ? error : storageFailure(error, this.directory);
    }
  }

  private async withdraw(): Promise<void> {
    const { claim } = this;
    this.claim = undefined;
    await claim?.withdraw();
  }

  /**
   * Places a claim. While there are claims of other processes, withdraws it and tries again. Rejects when another gateway
   * is known to run.
   */
  private async compete(): Promise<LockClaim> {
    const start = performance.now();
    let firstHeartbeats: ReadonlySet<string> | undefined;
    for (;;) {
      // Measured before the claims are read. Otherwise a slow read could use up the contention period in the first attempt.
      const waitedMs = performance.now() - start;
      const claim = await LockClaim.place(this.directory, this.timing);
      const claims = await competingWith(claim);
      if (claims.length === 0) return claim;
      await claim.withdraw();
      firstHeartbeats ??= new Set(claims.map(({ heartbeat }) => heartbeat));
      const holder = this.confirmedHolder(claims, waitedMs, firstHeartbeats);
      if (holder) throw this.inUseError(holder);
      // A random delay, so that two competing processes do not place their claims at the same time again.
      await pause(RETRY_DELAY_MS * (0.5 + Math.random()));
    }
  }

  /**
   * A claim of another gateway that is known to run; undefined if there is none or it is too early to tell:
   * - A claim whose process was found running counts after `contentionMs`. Until then, two gateways that start at once may
   *   both have a claim, and both withdraw it.
   * - A claim of another container or machine counts after `leaseMs`, if it had a heartbeat since the first attempt.
   */
  private confirmedHolder(
    claims: readonly CompetingClaim[],
    waitedMs: number,
    firstHeartbeats: ReadonlySet<string>,
  ): CompetingClaim | undefined {
    const { contentionMs, leaseMs } = this.timing;
    return claims.find(({ isVerified, heartbeat }) =>
      isVerified ? waitedMs > contentionMs : waitedMs > leaseMs && !firstHeartbeats.has(heartbeat),
    );
  }

  private inUseError({ holder }: CompetingClaim): StateError {
    return new StateError(
      this.directory,
      `another gateway uses it: process ${holder.pid} on ${holder.host}`,
      'Stop that gateway, or configure another stateDir for this one.',
    );
  }
}

async function competingWith(claim: LockClaim): Promise<CompetingClaim[]> {
  try {
    return await claim.competing();
  } catch (error) {
    await claim.withdraw();
    throw error;
  }
}
