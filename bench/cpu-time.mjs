import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Linux counts in hundredths of a second, whatever the kernel's own clock. */
const MICROSECONDS_PER_TICK = 10_000;

/** What a process has used so far, all its threads together. */
export function cpuMicroseconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name in the second field may hold spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MICROSECONDS_PER_TICK;
}

/** How much of the machine is at work for others, from 0 to 1. To be asked before anything is started. */
export async function busyShare(ms = 500) {
  const before = cpuTicks();
  await sleep(ms);
  const after = cpuTicks();
  return 1 - (after.idle - before.idle) / (after.total - before.total);
}

function cpuTicks() {
  const [line] = readFileSync('/proc/stat', 'latin1').split('\n', 1);
  const ticks = line.trim().split(/ +/).slice(1).map(Number);
  return { idle: ticks[3] + ticks[4], total: ticks.reduce((sum, value) => sum + value, 0) };
}
