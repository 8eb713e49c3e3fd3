import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.js';
import { JsonProblem, JsonReader, type ReadJson } from '../lib/json-text/json-reader.js';
import { MAX_EAGER_LENGTH } from '../lib/json-text/json-text.js';
import { inputBudget } from '../lib/slices/iteration-budget.js';
import { PacedInput } from '../lib/slices/paced-input.js';
import { CLIENT_JSON_LIMITS } from '../mcp/json-limits.js';
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

/** Reads bodies that arrive in one piece. `readBody` has checked their size. */
const onePieceReader = new JsonReader({ ...CLIENT_JSON_LIMITS, maxBytes: Infinity });
const NO_BYTES = Buffer.alloc(0);
const NO_RELEASE = (): void => {};

/**
 * Reads the body as JSON. If the body is larger than `limit`, stops reading and resolves with a `JsonProblem`. If the
 * body arrives in several pieces, calls `claim` with the expected size when the second piece arrives. After the body was
 * read, calls the function that `claim` has returned. If `claim` throws, stops reading and rejects.
 */
export function readBody(
  request: IncomingMessage,
  limit: number,
  claim: (bytes: number) => () => void = () => NO_RELEASE,
): Promise<ReadJson> {
  return new Promise((resolve, reject) => {
    /** NaN without Content-Length. */
    const announcedBytes = Number(request.headers['content-length']);
    /** The first piece. Most bodies consist of one piece, which `onePieceReader` reads. */
    let firstPiece: Buffer | undefined;
    /** Reads a body of several pieces. */
    let reader: JsonReader | undefined;
    /** Passes the pieces after the first to `append`, in limited amounts per iteration of the event loop. */
    let input: PacedInput | undefined;
    let hasEnded = false;
    let hasStopped = false;
    let release = NO_RELEASE;
    const stop = (): void => {
      hasStopped = true;
      // The listener references the body, and the request stays in memory until it is answered.
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
        reader = new JsonReader({
          ...CLIENT_JSON_LIMITS,
          maxBytes: limit,
          expectedBytes: announcedBytes || 0,
        });
        if (firstPiece) reader.append(firstPiece);
      }
      if (!reader.append(chunk)) refuseSize();
    };
    const startInput = (): PacedInput => {
      release = claim(announcedBytes || limit);
      return new PacedInput(request, append);
    };
    const onData = (chunk: Buffer): void => {
      if (!firstPiece && chunk.length <= limit) {
        firstPiece = chunk;
        return;
      }
      try {
        input ??= startInput();
        input.push(chunk);
      } catch (error) {
        stop();
        reject(error);
      }
    };
    if (announcedBytes > limit) {
      refuseSize();
      return;
    }
    request.on('data', onData);
    const end = (): void => {
      if (hasStopped) return;
      stop();
      const { length } = reader ?? firstPiece ?? NO_BYTES;
      const parse = (): void => {
        resolve(reader?.take() ?? onePieceReader.read(firstPiece ?? NO_BYTES));
        release();
      };
      // Parses the body after all input that has arrived was read (docs/decisions/0015).
      if (length > MAX_EAGER_LENGTH) inputBudget.runLater(parse);
      else setImmediate(parse);
    };
    request.on('end', () => {
      hasEnded = true;
      // If the last piece was not processed at once, the request ends before `input` has processed it.
      if (input) input.whenIdle(end);
      else end();
    });
    // A request that the client aborts emits 'close'. A listener for 'error' is not needed: Node emits 'error' only if
    // there is one.
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
