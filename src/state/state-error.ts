/** A file of the state directory cannot be used. The message names the file and what the operator can do. */
export class StateError extends Error {
  override readonly name = 'StateError';

  constructor(
    readonly path: string,
    problem: string,
    advice: string,
    options?: ErrorOptions,
  ) {
    super(`the state in ${path} cannot be used: ${problem}\n  ${advice}`, options);
  }
}
