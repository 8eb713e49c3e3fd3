/** What is kept in the state directory cannot be used as it is. The message names the file and what to do. */
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
