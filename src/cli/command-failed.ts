/** The command ran, and this is its answer. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}
