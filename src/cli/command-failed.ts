/** The command ran, and this is its answer. */
export class CommandError extends Error {
  override readonly name = 'CommandFailed';
}
