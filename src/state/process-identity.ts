import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Which process this is, told so that another one can find out whether it still runs. A pid alone does not say so: it
 * is given out again, and in containers that share a directory each gateway is number 1.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** In the kernel's own count; empty where the system does not tell. */
  readonly started: string;
  /** Pids mean the same to all processes with the same value. */
  readonly pidSpace: string;
  readonly host: string;
}

export function ownIdentity(): ProcessIdentity {
  const { pid } = process;
  return { pid, started: statOf(pid)?.started ?? '', pidSpace: ownPidSpace(), host: hostname() };
}

/** Undefined when it cannot be seen from here. */
export function isRunning({ pid, started, pidSpace }: ProcessIdentity): boolean | undefined {
  if (pidSpace !== ownPidSpace()) return undefined;
  if (started === '') return answersSignals(pid);
  const stat = statOf(pid);
  return stat !== undefined && !stat.isDead && stat.started === started;
}

export function isProcessIdentity(value: unknown): value is ProcessIdentity {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, started, pidSpace, host } = value as Record<string, unknown>;
  return Number.isSafeInteger(pid) && [started, pidSpace, host].every((text) => typeof text === 'string');
}

/** A boot of the machine and a namespace in it; without /proc, the machine. */
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
    // `pid (name) state …`, and the name may hold anything, brackets too. The start time is the 22nd field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { started: fields[19] ?? '', isDead: fields[0] === 'Z' || fields[0] === 'X' };
  } catch {
    return undefined;
  }
}

function answersSignals(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it is there, and somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
