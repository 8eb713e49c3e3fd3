import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.js';
import type { Principal } from '../mcp/principal.js';

/** Who sends an HTTP request, and which project the request itself names. */
export interface Sender {
  readonly principal: Principal;
  readonly projects: readonly string[];
  readonly headers: IncomingHttpHeaders;
}

export const PROJECT_HEADERS = ['x-gatehouse-project', 'x-mcpr-project'];

/** What the path and the headers say of the project; whether they agree is for the project guard to judge. */
export function projectsOf({ headers }: IncomingMessage, inPath: string | undefined): string[] {
  const projects = inPath === undefined ? [] : [inPath];
  for (const name of PROJECT_HEADERS) {
    const value = headers[name];
    if (value === undefined) continue;
    if (value === '') throw new GatewayError('bad-request', `The header ${name} names no project`);
    projects.push(String(value));
  }
  return projects;
}
