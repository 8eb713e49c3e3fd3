// Loaded into the gateway before it starts (`node --expose-gc --import`): reports over IPC how long the event loop was
// blocked, how much CPU time the main thread used, and how much memory the process holds.
import { StallMeter } from './stall-meter.mjs';

const meter = new StallMeter();

const replies = {
  /** The longest stall since the last message. */
  stall: () => meter.takeLongest(),
  cpu: () => ({ ms: meter.cpuMs() }),
  memory() {
    for (let run = 0; run < 3; run++) globalThis.gc();
    const { heapUsed, external } = process.memoryUsage();
    // The collections do not count as a stall.
    meter.skip();
    return { heapUsed, external };
  },
};

process.on('message', (request) => process.send(replies[request]()));
process.channel.unref();
