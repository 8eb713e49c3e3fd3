import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.js';
import { JsonProblem, JsonReader, type ReadJson } from '../lib/json-text/json-reader.js';
import { MAX_EAGER_LENGTH } from '../lib/json-text/json-text.js';
import { inputBudget } from '../lib/slices/iteration-budget.js';
import { PacedInput } from '../lib/slices/paced-input.js';
import { CLIENT_JSON_LIMITS } from '../mcp/json-limits.js';
import type { Principal } from '../mcp/principal.js';
import type { AuthenticatedRequest } from './auth/authentication.guard.js';

/** The Accept header of SDK clients; compared first because parsing media ranges is slow. */
const USUAL_ACCEPT = 'application/json, text/event-stream';

/** Throws unless the client accepts all of the types: the response may have any of them. */
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
      return [type, group, '*/*'].includes(name) && !parameters.some(isZeroWeight);
    });
}

/** A weight of zero excludes the type (RFC 9110, 12.4.2). */
const isZeroWeight = (parameter: string): boolean => /^q=0(\.0*)?$/.test(parameter);

/** Reads bodies that arrive in one piece. */
const onePieceReader = new JsonReader({ ...CLIENT_JSON_LIMITS, maxBytes: Infinity });
const NO_BYTES = Buffer.alloc(0);
const NO_RELEASE = (): void => {};

/**
 * Reads the body as JSON. Stops reading after `limit` bytes, or before the first byte if Content-Length is larger. For a
 * body of more than one piece, calls `claim` with the expected size, and the function that it returns when the body is read.
 * If `claim` throws, the body is not read further.
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  claim: (bytes: number) => () => void = () => NO_RELEASE,
): Promise<ReadJson> {
  return new Promise((resolve, reject) => {
    const announced = Number(request.headers['content-length']);
    /** The first piece. Most bodies consist of one piece, which `onePieceReader` reads. */
    let first: Buffer | undefined;
    let reader: JsonReader | undefined;
    let input: PacedInput | undefined;
    let hasEnded = false;
    let hasStopped = false;
    let release = NO_RELEASE;
    const stop = (): void => {
      hasStopped = true;
      // Releases the body: the listener references it, and the request stays in memory until it is answered.
      request.off('data', onData);
    };
    const refuseSize = (): void => {
      stop();
      release();
      resolve(new JsonProblem('size', `is larger than ${limit} bytes`));
    };
    const append = (chunk: Buffer): void => {
      if (hasStopped) return;
      if (!reader) {
        reader = new JsonReader({ ...CLIENT_JSON_LIMITS, maxBytes: limit, expectedBytes: announced || 0 });
        if (first) reader.append(first);
      }
      if (!reader.append(chunk)) refuseSize();
    };
    const startInput = (): PacedInput => {
      release = claim(announced || limit);
      return new PacedInput(request, append);
    };
    const onData = (chunk: Buffer): void => {
      if (!first && chunk.length <= limit) {
        first = chunk;
        return;
      }
      try {
        (input ??= startInput()).push(chunk);
      } catch (error) {
        stop();
        reject(error);
      }
    };
    if (announced > limit) {
      refuseSize();
      return;
    }
    request.on('data', onData);
    const end = (): void => {
      if (hasStopped) return;
      stop();
      // The body is parsed later, after all input that has arrived was read (docs/decisions/0015).
      const { length } = reader ?? first ?? NO_BYTES;
      const read = (): void => {
        resolve(reader?.take() ?? onePieceReader.read(first ?? NO_BYTES));
        release();
      };
      if (length > MAX_EAGER_LENGTH) inputBudget.runLater(read);
      else setImmediate(read);
    };
    request.on('end', () => {
      hasEnded = true;
      // A request can end while it is paused: the piece at which it was paused may be the last.
      if (input) input.whenIdle(end);
      else end();
    });
    // A request that the client aborts emits 'close'. It emits 'error' only to an existing listener, so none is needed.
    request.on('close', () => {
      if (hasStopped || hasEnded) return;
      stop();
      release();
      reject(new GatewayError('bad-request', 'The body ended early'));
    });
  });
}

/** The error for a body that could not be read. */
export function bodyError({ reason, message }: JsonProblem): GatewayError {
  if (reason === 'size') return new GatewayError('payload-too-large', `The body ${message}`);
  return reason === 'depth' || reason === 'members'
    ? new GatewayError('invalid-request', `Invalid request: the body ${message}`)
    : new GatewayError('parse-error', `Parse error: the body ${message}`);
}

/** The principal, projects and headers of the HTTP request that contained a message. */
export interface RequestSource {
  readonly principal: Principal;
  readonly quotaKey: string;
  /** The projects that path and headers name. `ProjectGuard` decides whether they agree. */
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
