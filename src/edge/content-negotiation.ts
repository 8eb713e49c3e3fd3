import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.js';

/** What SDK clients send; compared first because parsing media ranges is slow. */
const USUAL_ACCEPT = 'application/json, text/event-stream';

/** The client must accept all of the types, because the answer may have any of them. */
export function requireAccept(request: IncomingMessage, ...types: readonly string[]): void {
  const accept = request.headers.accept ?? '';
  if (accept === USUAL_ACCEPT || types.every((type) => accepts(accept, type))) return;
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
      return [type, group, '*/*'].includes(name) && !parameters.some(isRefusal);
    });
}

/** A weight of zero excludes the type (RFC 9110, 12.4.2). */
const isRefusal = (parameter: string): boolean => /^q=0(\.0*)?$/.test(parameter);
