import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';

const THREADS = '/proc/self/task';
/** The threads that Node starts after the main thread and before all others: the four workers of V8, and their timer. */
const WORKER_THREADS = 5;
/** A value of `nice`: 0 is normal, 19 the lowest priority. */
const LOWER_PRIORITY = 10;

/**
 * Lowers the priority of the threads in which V8 collects garbage beside the event loop. There are four of them, however few
 * processors the machine has: at the same priority as the event loop, they made it wait up to 30 ms for a processor after long
 * messages. Linux only, because the threads of other systems cannot be listed here.
 */
export function lowerWorkerThreadPriority(): void {
  try {
    const threads = readdirSync(THREADS).map(Number);
    // Thread ids ascend in the order of creation.
    const [, ...others] = threads.toSorted((a, b) => a - b);
    for (const thread of others.slice(0, WORKER_THREADS)) setPriority(thread, LOWER_PRIORITY);
  } catch {
    // Without /proc, or where the call is forbidden, the threads keep their priority.
  }
}
