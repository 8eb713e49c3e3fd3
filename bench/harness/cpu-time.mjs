import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** `stat` has hundredths of a second, which is a tenth of a measurement of a quarter of a second; `schedstat` has nanoseconds. */
const NANOSECONDS_PER_MICROSECOND = 1000;

/** CPU time of a process so far, all of its running threads together. */
export function cpuMicroseconds(pid) {
  const tasks = `/proc/${pid}/task`;
  const nanoseconds = readdirSync(tasks).map((task) => {
    const [onCpu] = readFileSync(`${tasks}/${task}/schedstat`, 'latin1').split(' ', 1);
    return Number(onCpu);
  });
  return nanoseconds.reduce((sum, each) => sum + each, 0) / NANOSECONDS_PER_MICROSECOND;
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
