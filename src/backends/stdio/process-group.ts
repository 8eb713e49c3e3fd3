import type { ChildProcess } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { completesWithin } from '../../lib/deadlines/timeout.js';

const POLL_INTERVAL_MS = 10;
/** A process that is blocked in the kernel may not end on SIGKILL; then its end is not awaited any longer. */
const KILL_TIMEOUT_MS = 1_000;

/** Every process group that may still have members. */
export const liveGroups = new Set<ProcessGroup>();

/** Runs when the gateway's own process exits: synchronous, because nothing asynchronous runs by then. */
export function killAllProcessGroups(): void {
  for (const group of liveGroups) group.signal('SIGKILL');
}

/**
 * A child that leads its own process group, and its descendants in that group. The group outlives its leader while it
 * has members, and so long the kernel does not reuse its id. Once it is known to be empty it is never signalled again.
 */
export class ProcessGroup {
  readonly leaderExit: Promise<void>;
  private isLeaderReaped = false;
  private isEmpty = false;

  constructor(
    child: ChildProcess,
    readonly pid: number,
  ) {
    liveGroups.add(this);
    this.leaderExit = new Promise((resolve) => {
      child.once('exit', () => {
        this.isLeaderReaped = true;
        this.hasMembers();
        resolve();
      });
    });
  }

  /** True when the signal was delivered to a process of the group. */
  signal(signal: NodeJS.Signals | 0): boolean {
    if (this.isEmpty) return false;
    try {
      // Windows has no process groups: there only the leader is signalled.
      return process.kill(process.platform === 'win32' ? this.pid : -this.pid, signal);
    } catch {
      // ESRCH, or EPERM where only zombies or another user's processes are left.
      if (this.isLeaderReaped) this.markEmpty();
      return false;
    }
  }

  /** To be called when the stdin of the leader has ended: waits for its exit, then sends SIGTERM, then SIGKILL. */
  async stop(stopGraceMs: number, killGraceMs: number): Promise<void> {
    await completesWithin(this.leaderExit, stopGraceMs);
    this.signal('SIGTERM');
    if (!(await this.emptiesWithin(killGraceMs))) await this.kill();
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    // Every process has its signal by then; the rest is up to the kernel and PID 1.
    if (!(await this.emptiesWithin(KILL_TIMEOUT_MS)) && this.isLeaderReaped) this.markEmpty();
  }

  private async emptiesWithin(ms: number): Promise<boolean> {
    const deadline = performance.now() + ms;
    if (!(await completesWithin(this.leaderExit, ms))) return false;
    // There is no event for the end of a process that is not a child.
    while (this.hasMembers() && performance.now() < deadline) {
      if (await hasRunningMember(this.pid)) await sleep(POLL_INTERVAL_MS);
      else this.markEmpty();
    }
    return this.isEmpty;
  }

  private hasMembers(): boolean {
    return this.signal(0);
  }

  private markEmpty(): void {
    this.isEmpty = true;
    liveGroups.delete(this);
  }
}

/**
 * Whether a process of the group still runs. kill(2) also finds zombies, and an orphan stays a zombie until PID 1 reaps
 * it, which in a container may take long or never happen.
 */
async function hasRunningMember(group: number): Promise<boolean> {
  try {
    for (const entry of await readdir('/proc')) {
      if (/^\d+$/.test(entry) && (await runsIn(group, entry))) return true;
    }
    return false;
  } catch {
    // Without /proc the answer of kill(2) has to do.
    return true;
  }
}

async function runsIn(group: number, pid: string): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  // `pid (name) state parent group …`; the name may contain brackets.
  const [state, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3);
  return Number(processGroup) === group && state !== 'Z' && state !== 'X';
}
