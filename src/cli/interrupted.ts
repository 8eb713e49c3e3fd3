/** Somebody pressed Ctrl-C. There is nothing to explain to him. */
export class InterruptedError extends Error {
  override readonly name = 'Interrupted';
}
