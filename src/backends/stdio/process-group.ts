import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { hasLivingMember } from './group-members.js';
import { completesWithin } from '../../lib/deadlines/timeout.js';

const POLL_MS = 10;
/** SIGKILL cannot be refused, but a process may be stuck in the kernel; then life goes on without its end. */
const AFTER_KILL_MS = 1_000;

/** Every process group that may still have members. */
export const liveGroups = new Set<ProcessGroup>();

/** Runs when the gateway's own process exits: synchronous, because nothing asynchronous runs by then. */
export function killAllProcessGroups(): void {
  for (const group of liveGroups) group.signal('SIGKILL');
}

/**
 * A child that leads its own process group, and everything it started in there. The group outlives its leader while
 * it has members, and so long its number is not given to anybody else; once it is known to be empty it is never
 * signalled again.
 */
export class ProcessGroup {
  readonly leaderExit: Promise<void>;
  private leaderReaped = false;
  private empty = false;

  constructor(
    child: ChildProcess,
    readonly pid: number,
  ) {
    liveGroups.add(this);
    this.leaderExit = new Promise((resolve) => {
      child.once('exit', () => {
        this.leaderReaped = true;
        this.hasMembers();
        resolve();
      });
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.reach(signal);
  }

  /** For a leader whose stdin has ended: waits for it, then SIGTERM to all who are left, then SIGKILL. */
  async stop(stopGraceMs: number, killGraceMs: number): Promise<void> {
    await completesWithin(this.leaderExit, stopGraceMs);
    this.reach('SIGTERM');
    if (!(await this.goneWithin(killGraceMs))) await this.kill();
  }

  async kill(): Promise<void> {
    this.reach('SIGKILL');
    // Whoever is left then has his signal: it is only the kernel's or PID 1's turn.
    if (!(await this.goneWithin(AFTER_KILL_MS)) && this.leaderReaped) this.forget();
  }

  private async goneWithin(ms: number): Promise<boolean> {
    const deadline = performance.now() + ms;
    if (!(await completesWithin(this.leaderExit, ms))) return false;
    // Nothing tells when a process dies that is not our own child.
    while (this.hasMembers() && performance.now() < deadline) {
      if (await hasLivingMember(this.pid)) await pause(POLL_MS);
      else this.forget();
    }
    return this.empty;
  }

  private hasMembers(): boolean {
    return this.reach(0);
  }

  private reach(signal: NodeJS.Signals | 0): boolean {
    if (this.empty) return false;
    try {
      // Windows has no such groups: there only the leader is reached.
      return process.kill(process.platform === 'win32' ? this.pid : -this.pid, signal);
    } catch {
      // ESRCH, or EPERM where only zombies or another user's processes are left.
      if (this.leaderReaped) this.forget();
      return false;
    }
  }

  private forget(): void {
    this.empty = true;
    liveGroups.delete(this);
  }
}
