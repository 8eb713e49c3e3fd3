/** Every way the admin API refuses, with its status and title. */
export const PROBLEMS = {
  malformed: { status: 400, title: 'The request cannot be read' },
  unauthorized: { status: 401, title: 'An admin token is required' },
  forbidden: { status: 403, title: 'The token does not allow this' },
  'stdio-not-allowed': { status: 403, title: 'Commands may not be set through the API' },
  'not-found': { status: 404, title: 'There is no such thing' },
  conflict: { status: 409, title: 'Not in this state' },
  'precondition-failed': { status: 412, title: 'It changed in the meantime' },
  'payload-too-large': { status: 413, title: 'The body is too large' },
  'unsupported-media-type': { status: 415, title: 'The body must be JSON' },
  'invalid-input': { status: 422, title: 'The input is not valid' },
  'invalid-config': { status: 422, title: 'The configuration file is not valid' },
  internal: { status: 500, title: 'The gateway failed' },
  'too-many-readers': { status: 503, title: 'The feed has no room for another reader' },
  'storage-unavailable': { status: 503, title: 'Nothing can be stored right now' },
  'storage-full': { status: 507, title: 'There is no room to store it' },
} as const;

export type ProblemKind = keyof typeof PROBLEMS;

export interface FieldError {
  /** Where in the body or query, as a path; the name of a parameter otherwise. */
  readonly field: string;
  readonly message: string;
}

/** A request to the admin API that is refused. Nothing has changed. */
export class AdminProblem extends Error {
  override readonly name = 'AdminProblem';

  constructor(
    readonly kind: ProblemKind,
    detail: string,
    readonly errors: readonly FieldError[] = [],
  ) {
    super(detail);
  }
}

export const notFound = (what: string, id: string): AdminProblem =>
  new AdminProblem('not-found', `there is no ${what} \`${id}\``);

export const invalidInput = (errors: readonly FieldError[]): AdminProblem =>
  new AdminProblem(
    'invalid-input',
    errors.map(({ field, message }) => `${field}: ${message}`).join('; '),
    errors,
  );
