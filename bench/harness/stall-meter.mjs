import { closeSync, openSync, readSync } from 'node:fs';

const INTERVAL_MS = 2;

/** Returns a function that reads the CPU time of the main thread; outside Linux that of the whole process. */
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

/** Measures how long the event loop of this process is blocked, and how much CPU time its main thread uses. */
export class StallMeter {
  cpuMs = cpuMsReader();
  #lastAt = performance.now();
  #lastCpu = this.cpuMs();
  #longest = { wall: 0, own: 0 };

  constructor() {
    setInterval(() => this.#check(), INTERVAL_MS).unref();
  }

  /** The longest stall since the last call. */
  takeLongest() {
    const longest = this.#longest;
    this.#longest = { wall: 0, own: 0 };
    return longest;
  }

  /** The time since the last check does not count as a stall. */
  skip() {
    this.#lastAt = performance.now();
    this.#lastCpu = this.cpuMs();
  }

  #check() {
    const late = performance.now() - this.#lastAt - INTERVAL_MS;
    // Time in which other processes had the CPU does not count as a stall of this one.
    const own = Math.min(late, this.cpuMs() - this.#lastCpu);
    this.#longest = { wall: Math.max(this.#longest.wall, late), own: Math.max(this.#longest.own, own) };
    this.skip();
  }
}
