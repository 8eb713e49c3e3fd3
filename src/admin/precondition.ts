import type { IncomingHttpHeaders } from 'node:http';
import { AdminProblem } from './admin-problem.js';

const ENTITY_TAG = /(W\/)?"[\x21\x23-\x7e]*"/g;

/** If-Match and If-None-Match of a request (RFC 9110). */
export class Precondition {
  constructor(
    private readonly ifMatch?: string,
    private readonly ifNoneMatch?: string,
  ) {}

  static fromHeaders(headers: IncomingHttpHeaders): Precondition {
    return new Precondition(headers['if-match'], headers['if-none-match']);
  }

  /** Throws a problem unless the condition holds. `etag` is undefined when the resource does not exist. */
  require(etag: string | undefined): void {
    if (this.ifMatch !== undefined && !matches(this.ifMatch, etag))
      throw preconditionFailed('If-Match names another version than the current one');
    if (this.ifNoneMatch !== undefined && matches(this.ifNoneMatch, etag))
      throw preconditionFailed('If-None-Match names the current version');
  }
}

/** Compares strongly (RFC 9110, 8.8.3.2): a weak tag never matches. */
function matches(header: string, etag: string | undefined): boolean {
  if (etag === undefined) return false;
  return header.trim() === '*' || header.match(ENTITY_TAG)?.includes(etag) === true;
}

const preconditionFailed = (detail: string): AdminProblem => new AdminProblem('precondition-failed', detail);
