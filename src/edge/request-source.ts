import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../core/errors.js';
import type { Principal } from '../mcp/principal.js';
import type { AuthenticatedRequest } from './auth/authentication.guard.js';

/** What the HTTP request of a message says besides its body. */
export interface RequestSource {
  readonly principal: Principal;
  /** The projects that path and headers name. `ProjectGuard` decides whether they agree. */
  readonly projects: readonly string[];
  readonly headers: IncomingHttpHeaders;
}

export const PROJECT_HEADERS = ['x-gatehouse-project', 'x-mcpr-project'];

export function sourceOf(
  { headers, principal }: Pick<AuthenticatedRequest, 'headers' | 'principal'>,
  projectInPath: string | undefined,
): RequestSource {
  const projects = projectInPath === undefined ? [] : [projectInPath];
  for (const name of PROJECT_HEADERS) {
    const value = headers[name];
    if (value === undefined) continue;
    if (value === '') throw new GatewayError('bad-request', `The header ${name} names no project`);
    projects.push(String(value));
  }
  return { principal, projects, headers };
}
