import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isJsonObject } from '../lib/json-text/json-value.js';

/**
 * Identifies a process so that another process can check whether it still runs. A PID alone is not enough: PIDs are
 * reused, and in containers that share a directory each gateway has PID 1.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in kernel ticks; empty where the system does not provide it. */
  readonly started: string;
  /** PID namespace: PIDs are comparable between processes with the same value. */
  readonly pidSpace: string;
  readonly host: string;
}

/** Number of the field in `/proc/<pid>/stat` with the start time. */
const START_TIME_FIELD = 22;

export function ownIdentity(): ProcessIdentity {
  const { pid } = process;
  return { pid, started: statOf(pid)?.started ?? '', pidSpace: ownPidSpace(), host: hostname() };
}

/** Whether the process runs; undefined if it is in another PID namespace, where this cannot be checked. */
export function isRunning({ pid, started, pidSpace }: ProcessIdentity): boolean | undefined {
  if (pidSpace !== ownPidSpace()) return undefined;
  if (started === '') return processExists(pid);
  const stat = statOf(pid);
  return stat !== undefined && !stat.isDead && stat.started === started;
}

export function isProcessIdentity(value: unknown): value is ProcessIdentity {
  if (!isJsonObject(value)) return false;
  const { pid, started, pidSpace, host } = value;
  return Number.isSafeInteger(pid) && [started, pidSpace, host].every((text) => typeof text === 'string');
}

/** Boot id and PID namespace; the host name on a system without /proc. */
function ownPidSpace(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

function statOf(pid: number): { started: string; isDead: boolean } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // `pid (name) state …`. The name may contain spaces and brackets, so the fields are counted from the state, field 3.
    const [state, ...fieldsFrom4] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const started = fieldsFrom4[START_TIME_FIELD - 4] ?? '';
    return { started, isDead: state === 'Z' || state === 'X' };
  } catch {
    return undefined;
  }
}

function processExists(pid: number): boolean {
  try {
    // Signal 0 only checks the process.
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
