// Loaded into the gateway before it starts (`node --expose-gc --import`): says over IPC how long its event loop stood
// still, how much of the processor its thread had, and what it holds.
import { closeSync, openSync, readSync } from 'node:fs';

const EVERY_MS = 2;

/** What the main thread has used so far. Linux alone tells; elsewhere it is the whole process, and too much. */
function cpuMsReader() {
  try {
    const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
    const bytes = Buffer.alloc(64);
    process.once('exit', () => closeSync(file));
    return () => Number.parseInt(bytes.latin1Slice(0, readSync(file, bytes, 0, 64, 0)), 10) / 1e6;
  } catch {
    return () => process.cpuUsage().user / 1000;
  }
}

const cpuMs = cpuMsReader();
let lastAt = performance.now();
let lastCpu = cpuMs();
let stall = { wall: 0, own: 0 };

setInterval(() => {
  const now = performance.now();
  const cpu = cpuMs();
  const late = now - lastAt - EVERY_MS;
  // Of the time that others had the processor, the gateway is not to blame.
  const own = Math.min(late, cpu - lastCpu);
  stall = { wall: Math.max(stall.wall, late), own: Math.max(stall.own, own) };
  lastAt = now;
  lastCpu = cpu;
}, EVERY_MS).unref();

const answers = {
  /** The longest since it was last asked. */
  stall() {
    const longest = stall;
    stall = { wall: 0, own: 0 };
    return longest;
  },
  cpu: () => ({ ms: cpuMs() }),
  memory() {
    for (let turn = 0; turn < 3; turn++) globalThis.gc();
    const { heapUsed, external } = process.memoryUsage();
    // The time that takes is nobody's.
    lastAt = performance.now();
    lastCpu = cpuMs();
    return { heapUsed, external };
  },
};

process.on('message', (question) => process.send(answers[question]()));
process.channel.unref();
