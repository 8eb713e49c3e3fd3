/** Every problem type of the admin API, with its status and title. */
export const PROBLEMS = {
  malformed: { status: 400, title: 'Malformed request' },
  unauthorized: { status: 401, title: 'Admin token required' },
  forbidden: { status: 403, title: 'Forbidden' },
  'stdio-not-allowed': { status: 403, title: 'Commands cannot be set through the API' },
  'address-not-allowed': { status: 403, title: 'Address refused by policy' },
  'not-found': { status: 404, title: 'Not found' },
  'defined-in-file': { status: 409, title: 'Defined in the configuration file' },
  conflict: { status: 409, title: 'Conflict with the current state' },
  'precondition-failed': { status: 412, title: 'Precondition failed' },
  'payload-too-large': { status: 413, title: 'Body too large' },
  'unsupported-media-type': { status: 415, title: 'Body must be JSON' },
  'invalid-input': { status: 422, title: 'Invalid input' },
  'invalid-config': { status: 422, title: 'Invalid configuration file' },
  'too-many-attempts': { status: 429, title: 'Too many invalid tokens' },
  internal: { status: 500, title: 'Internal error' },
  draining: { status: 503, title: 'The gateway is draining' },
  'too-many-readers': { status: 503, title: 'Too many readers of the event feed' },
  'storage-unavailable': { status: 503, title: 'Storage unavailable' },
  'storage-full': { status: 507, title: 'Storage full' },
} as const;

export type ProblemKind = keyof typeof PROBLEMS;

export interface FieldError {
  /** Path of the field in the body, or name of the parameter. */
  readonly field: string;
  readonly message: string;
}

/** A request that was refused or has failed. A refused request has changed nothing. */
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

export const notFound = (noun: string, id: string): AdminProblem =>
  new AdminProblem('not-found', `there is no ${noun} \`${id}\``);

export const invalidInput = (errors: readonly FieldError[]): AdminProblem =>
  new AdminProblem(
    'invalid-input',
    errors.map(({ field, message }) => `${field}: ${message}`).join('; '),
    errors,
  );
