/** Somebody pressed Ctrl-C. There is nothing to explain to him. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
