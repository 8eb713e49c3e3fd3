import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Linux reports CPU time in hundredths of a second, independently of the kernel's own tick. */
const MICROSECONDS_PER_TICK = 10_000;

/** CPU time of a process so far, all threads together. */
export function cpuMicroseconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The process name in the second field may contain spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MICROSECONDS_PER_TICK;
}

/** Share of the machine that other processes use, from 0 to 1. Call it before starting any process. */
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
