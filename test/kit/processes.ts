import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { onCleanup } from './cleanup.js';
import { until, within } from './until.js';

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
}

/** Every process of the machine, zombies included. */
function processes(): Process[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((entry) => processAt(Number(entry)) ?? []);
}

function processAt(pid: number): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // `pid (name) state parent …`; the name may contain any character, also parentheses.
    const [state = '', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 2);
    return { pid, parent: Number(parent), state };
  } catch {
    return undefined;
  }
}

/** A zombie counts as dead. */
export function isAlive(pid: number): boolean {
  const found = processAt(pid);
  return found !== undefined && found.state !== 'Z' && found.state !== 'X';
}

/** Children, their children and so on, zombies included: the parent should have waited for them. */
export function descendantsOf(pid: number): number[] {
  const all = processes();
  const found: number[] = [];
  for (let parents = [pid]; parents.length > 0;) {
    const children = all.filter(({ parent }) => parents.includes(parent)).map((child) => child.pid);
    found.push(...children);
    parents = children;
  }
  return found;
}

export function untilExited(pids: readonly number[], timeoutMs?: number): Promise<unknown> {
  return until(`the processes ${pids.join(', ')} have exited`, () => !pids.some(isAlive), timeoutMs);
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Resolves when the process has ended and its output is read. */
export function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
}

/** Ends the process after the test, first with SIGTERM. */
export function killAfterTest(child: ChildProcess, exited: Promise<Exit>): void {
  const killNow = (): void => void child.kill('SIGKILL');
  process.once('exit', killNow);
  void exited.then(() => process.off('exit', killNow));
  onCleanup(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await within(`process ${child.pid} to end`, exited).finally(killNow);
  });
}
