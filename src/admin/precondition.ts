import type { IncomingHttpHeaders } from 'node:http';
import { AdminProblem } from './admin-problem.js';

const TAG = /(W\/)?"[\x21\x23-\x7e]*"/g;

/** What a caller believes the thing to be that it wants to change (RFC 9110, If-Match and If-None-Match). */
export class Precondition {
  constructor(
    private readonly ifMatch?: string,
    private readonly ifNoneMatch?: string,
  ) {}

  static in(headers: IncomingHttpHeaders): Precondition {
    return new Precondition(headers['if-match'], headers['if-none-match']);
  }

  /** `etag` of the thing as it is; undefined when it is not there. */
  require(etag: string | undefined): void {
    if (this.ifMatch !== undefined && !matches(this.ifMatch, etag))
      throw failed('If-Match names another version than the one there is');
    if (this.ifNoneMatch !== undefined && matches(this.ifNoneMatch, etag))
      throw failed('If-None-Match names the version there is');
  }
}

/** By strong comparison: a weak tag matches nothing. */
function matches(header: string, etag: string | undefined): boolean {
  if (etag === undefined) return false;
  return header.trim() === '*' || header.match(TAG)?.includes(etag) === true;
}

const failed = (detail: string): AdminProblem => new AdminProblem('precondition-failed', detail);
