// Loaded into the gateway before it starts (`node --expose-gc --import`): reports over IPC how long the event loop was
// blocked, how much CPU time the main thread used, and how much memory the process holds.
import { closeSync, openSync, readSync } from 'node:fs';

const INTERVAL_MS = 2;

/** CPU time of the main thread so far. Outside Linux that of the whole process, which is too much. */
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
  const late = now - lastAt - INTERVAL_MS;
  // Time in which other processes had the CPU does not count as a stall of the gateway.
  const own = Math.min(late, cpu - lastCpu);
  stall = { wall: Math.max(stall.wall, late), own: Math.max(stall.own, own) };
  lastAt = now;
  lastCpu = cpu;
}, INTERVAL_MS).unref();

const replies = {
  /** The longest stall since the last message. */
  stall() {
    const longest = stall;
    stall = { wall: 0, own: 0 };
    return longest;
  },
  cpu: () => ({ ms: cpuMs() }),
  memory() {
    for (let run = 0; run < 3; run++) globalThis.gc();
    const { heapUsed, external } = process.memoryUsage();
    // The collections do not count as a stall.
    lastAt = performance.now();
    lastCpu = cpuMs();
    return { heapUsed, external };
  },
};

process.on('message', (question) => process.send(replies[question]()));
process.channel.unref();
