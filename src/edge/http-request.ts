import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.js';
import type { JsonProblem } from '../lib/json-text/json-reader.js';
import type { Principal } from '../mcp/principal.js';
import type { AuthenticatedRequest } from './auth/authentication.guard.js';

/** The Accept header of SDK clients. It is compared first, because parsing media ranges is slow. */
const SDK_ACCEPT = 'application/json, text/event-stream';

/** Throws unless the client accepts all these types, because the response may have any of them. */
export function requireAccept(request: IncomingMessage, ...types: readonly string[]): void {
  const accept = request.headers.accept ?? '';
  if (accept === SDK_ACCEPT || types.every((type) => accepts(accept, type))) return;
  throw new GatewayError('not-acceptable', `Not acceptable: the client must accept ${types.join(' and ')}`);
}

export function requireJson(request: IncomingMessage): void {
  const header = request.headers['content-type'] ?? '';
  if (header === 'application/json' || mediaType(header) === 'application/json') return;
  throw new GatewayError('unsupported-media-type', 'Unsupported media type: send application/json');
}

const mediaType = (header: string): string => header.split(';', 1)[0]!.trim().toLowerCase();

function accepts(header: string, type: string): boolean {
  const group = `${type.slice(0, type.indexOf('/'))}/*`;
  return header
    .toLowerCase()
    .split(',')
    .some((range) => {
      const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
      return [type, group, '*/*'].includes(name) && !parameters.some(isZeroWeight);
    });
}

/** Whether the parameter is a weight of zero, which excludes the type (RFC 9110, 12.4.2). */
const isZeroWeight = (parameter: string): boolean => /^q=0(\.0*)?$/.test(parameter);

/** The error for a body that could not be read. */
export function bodyError({ reason, message }: JsonProblem): GatewayError {
  if (reason === 'size') return new GatewayError('payload-too-large', `The body ${message}`);
  return reason === 'depth' || reason === 'members'
    ? new GatewayError('invalid-request', `Invalid request: the body ${message}`)
    : new GatewayError('parse-error', `Parse error: the body ${message}`);
}

/** The parts of an HTTP request that apply to each of its messages. */
export interface RequestSource {
  readonly principal: Principal;
  readonly quotaKey: string;
  /** The projects that path and headers name. `ProjectGuard` checks that all of them are the same. */
  readonly projects: readonly string[];
  readonly headers: IncomingHttpHeaders;
}

export const PROJECT_HEADERS = ['x-gatehouse-project', 'x-mcpr-project'];

export function sourceOf(
  { headers, principal, quotaKey }: Pick<AuthenticatedRequest, 'headers' | 'principal' | 'quotaKey'>,
  projectInPath: string | undefined,
): RequestSource {
  const projects = projectInPath === undefined ? [] : [projectInPath];
  for (const name of PROJECT_HEADERS) {
    const value = headers[name];
    if (value === undefined) continue;
    if (value === '') throw new GatewayError('bad-request', `The header ${name} names no project`);
    projects.push(String(value));
  }
  return { principal, quotaKey, projects, headers };
}
