import type { ChildProcess } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { completesWithin } from '../../lib/deadlines/timeout.js';

const POLL_INTERVAL_MS = 10;
/** How long to wait after SIGKILL. A process that is blocked in the kernel may not end at all. */
const KILL_TIMEOUT_MS = 1_000;

/** Every process group that may still have members. */
export const liveGroups = new Set<ProcessGroup>();

/** To be called when the gateway process exits. Synchronous, because asynchronous code does not run any more then. */
export function killAllProcessGroups(): void {
  for (const group of liveGroups) group.signal('SIGKILL');
}

/**
 * The process group of a child: its leader, the child, and the descendants that stay in the group. The kernel does not
 * reuse the id of a group that has members, even if the leader has exited. An empty group is never signalled, because
 * its id may be reused.
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
        // Marks the group as empty when no other member is left.
        this.signal(0);
        resolve();
      });
    });
  }

  /** Returns true when the signal was sent to at least one process. If there is none, marks the group as empty. */
  signal(signal: NodeJS.Signals | 0): boolean {
    if (this.isEmpty) return false;
    try {
      // Windows has no process groups: there only the leader is signalled.
      return process.kill(process.platform === 'win32' ? this.pid : -this.pid, signal);
    } catch {
      // ESRCH, or EPERM when only zombies or another user's processes are left.
      if (this.isLeaderReaped) this.markEmpty();
      return false;
    }
  }

  /**
   * To be called when the stdin of the leader was closed. Waits for the exit of the leader, at most `stopGraceMs`, then sends
   * SIGTERM, and after `killGraceMs` SIGKILL.
   */
  async stop(stopGraceMs: number, killGraceMs: number): Promise<void> {
    await completesWithin(this.leaderExit, stopGraceMs);
    this.signal('SIGTERM');
    if (!(await this.becomesEmptyWithin(killGraceMs))) await this.kill();
  }

  /** Sends SIGKILL. Resolves when the group is empty, or after `KILL_TIMEOUT_MS`. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    // SIGKILL was sent to all members. The group counts as empty even if the kernel or PID 1 has not removed them yet.
    if (!(await this.becomesEmptyWithin(KILL_TIMEOUT_MS)) && this.isLeaderReaped) this.markEmpty();
  }

  private async becomesEmptyWithin(ms: number): Promise<boolean> {
    const deadline = performance.now() + ms;
    if (!(await completesWithin(this.leaderExit, ms))) return false;
    // Polled, because there is no event for the end of a process that is not a child.
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
 * Whether a process of the group still runs. This is read from /proc, because kill(2) also finds zombies: an orphan stays a
 * zombie until PID 1 reaps it, which may never happen in a container.
 */
async function hasRunningMember(group: number): Promise<boolean> {
  try {
    for (const entry of await readdir('/proc')) {
      if (/^\d+$/.test(entry) && (await isRunningIn(group, entry))) return true;
    }
    return false;
  } catch {
    // Without /proc, running processes and zombies cannot be distinguished.
    return true;
  }
}

async function isRunningIn(group: number, pid: string): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  // `pid (name) state parent group …`; the name may contain parentheses.
  const [state, , processGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3);
  return Number(processGroup) === group && state !== 'Z' && state !== 'X';
}
