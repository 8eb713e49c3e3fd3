/** Runs asynchronous tasks one at a time, in the order of `run` calls. A task that fails does not stop the next one. */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();

  /** Settles like the promise of the task. */
  run<T>(task: () => T | Promise<T>): Promise<T> {
    const result = this.last.then(task);
    this.last = result.catch(() => undefined);
    return result;
  }
}
