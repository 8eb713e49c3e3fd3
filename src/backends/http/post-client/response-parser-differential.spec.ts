import { request } from 'node:http';
import { Duplex } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { headerOf } from './response-head.js';
import { ResponseParser } from './response-parser.js';

/**
 * Differential fuzzing against the parser of `node:http`: both parsers get the same pieces of a valid or mutated response
 * and must agree on the outcome. `hasTabAfterValue` and `STRICTER` document the accepted differences.
 */

const TIME_LIMIT_MS = 2500;
const RUNS_PER_BATCH = 200;

/** The header fields that the transport reads. */
const FIELDS = ['content-type', 'content-encoding', 'mcp-session-id', 'retry-after', 'location'];

interface Outcome {
  /** The whole response was delivered. Bytes after it do not change that: they close the connection. */
  isComplete: boolean;
  status: number;
  /** First values. */
  headers: Record<string, string | undefined>;
  body: string;
  /** The connection can be used for another request. */
  isPersistent: boolean;
  error: string | undefined;
}

const initialOutcome = (): Outcome => ({
  isComplete: false,
  status: 0,
  headers: {},
  body: '',
  isPersistent: false,
  error: undefined,
});

function parseWithOurs(pieces: readonly Buffer[]): Outcome {
  const outcome = initialOutcome();
  const parser = new ResponseParser(() => {
    outcome.isComplete = true;
    outcome.isPersistent = parser.head?.isPersistent === true;
  });
  parser.start({
    onHead: ({ status, headers }) => {
      outcome.status = status;
      for (const name of FIELDS) outcome.headers[name] = headerOf(headers, name);
    },
    onBody: (bytes) => (outcome.body += bytes.toString('latin1')),
  });
  try {
    for (const piece of pieces) parser.push(piece);
    parser.close();
  } catch (error) {
    outcome.error = (error as Error).message;
  }
  return outcome;
}

const nextIteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function parseWithNode(pieces: readonly Buffer[]): Promise<Outcome> {
  const outcome = initialOutcome();
  const socket = new Duplex({ read: () => {}, write: (_chunk, _encoding, written) => written() });
  const clientRequest = request({ method: 'POST', createConnection: () => socket });
  // As with a keep-alive agent. Node sets it to false when the server closes the connection.
  clientRequest.shouldKeepAlive = true;
  clientRequest.on(
    'error',
    (error: NodeJS.ErrnoException) => (outcome.error ??= error.code ?? error.message),
  );
  clientRequest.on('upgrade', () => (outcome.error ??= 'upgrade'));
  clientRequest.on('response', (response) => {
    outcome.status = response.statusCode ?? 0;
    outcome.isPersistent = clientRequest.shouldKeepAlive;
    for (const name of FIELDS) outcome.headers[name] = response.headersDistinct[name]?.[0];
    response.on('data', (chunk: Buffer) => (outcome.body += chunk.toString('latin1')));
    response.on('error', () => {});
    response.on('close', () => (outcome.isComplete = response.complete));
    response.on('end', () => (outcome.isComplete = response.complete));
  });
  clientRequest.end('x');
  await nextIteration();
  for (const piece of pieces) socket.push(piece);
  socket.push(null);
  await nextIteration();
  await nextIteration();
  socket.destroy();
  return outcome;
}

/** Node treats a tab after a value as a part of it; RFC 9110, 5.5 excludes it from the value. */
const hasTabAfterValue = (wire: string): boolean => /\t[ \t]*\r\n/.test(wire);

/** Responses that Node accepts and our parser rejects, by our error. */
const STRICTER: Readonly<Record<string, (wire: string) => boolean>> = {
  // Only `chunked` is supported, and only in HTTP/1.1: no request of ours allows another transfer encoding.
  'the response has a transfer encoding other than chunked': (wire) => /^transfer-encoding:/im.test(wire),
  // Empty lines before the status line, and control characters in the reason phrase.
  'the response is not HTTP/1.1': (wire) =>
    /(?:^|\r\n\r\n)[\r\n]+HTTP/.test(wire) || /^HTTP.*(?![\r\n\t])\p{Cc}/mu.test(wire),
  // Node treats a 101 without an upgrade as a response without a body.
  'the server changed to another protocol': (wire) => wire.includes(' 101'),
};

const text = fc.string({ unit: 'binary-ascii', maxLength: 40 });

const field = fc
  .tuple(
    fc.constantFrom(
      'Content-Type',
      'content-encoding',
      'Mcp-Session-Id',
      'Retry-After',
      'location',
      'X-Other',
    ),
    fc.constantFrom(':', ': ', ':\t '),
    fc.constantFrom('application/json', 'text/event-stream; x=1', 'identity', '7', '', 'a b \xe9'),
    fc.constantFrom('', ' ', '\t'),
  )
  .map((parts) => parts.join(''));

const connectionField = fc.constantFrom(
  'Connection: close',
  'connection: Keep-Alive',
  'connection: x, close',
  'Keep-Alive: timeout=5',
);

const statusLine = fc.constantFrom(
  'HTTP/1.1 200 OK',
  'HTTP/1.1 200',
  'HTTP/1.1 202 Accepted',
  'HTTP/1.1 204 No Content',
  'HTTP/1.1 304 x',
  'HTTP/1.1 404 Not Found',
  'HTTP/1.0 200 OK',
  'HTTP/1.1 500 \xe9',
);

const interim = fc.constantFrom(
  '',
  '',
  '',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n',
);

const body = fc.record({
  parts: fc.array(text, { maxLength: 3 }),
  framing: fc.constantFrom('length', 'chunked', 'until-close'),
  extension: fc.constantFrom('', ';a=b', ' ;x', ';y="z \\" z";a'),
  trailer: fc.constantFrom('', 'x-t: y\r\n'),
});

const validResponse = fc
  .tuple(interim, statusLine, fc.array(fc.oneof(field, connectionField), { maxLength: 4 }), body)
  .map(([before, line, fields, { parts, framing, extension, trailer }]) => {
    const whole = parts.join('');
    const chunks = parts
      .filter((part) => part !== '')
      .map((part) => `${part.length.toString(16)}${extension}\r\n${part}\r\n`);
    const [lengthFields, wire] = {
      length: [[`Content-Length: ${whole.length}`], whole] as const,
      chunked: [['Transfer-Encoding: chunked'], `${chunks.join('')}0${extension}\r\n${trailer}\r\n`] as const,
      'until-close': [[], whole] as const,
    }[framing];
    return `${before}${[line, ...fields, ...lengthFields].join('\r\n')}\r\n\r\n${wire}`;
  });

type Mutation = (wire: string) => string;

const INSERTIONS = '\r|\n|\r\n|\r\n\r\n| |\t|:|;|,|=|"|-|+|0|1|a|F|x|\0|\x7f|\x80|\xff'.split('|');

const mutation: fc.Arbitrary<Mutation> = fc
  .tuple(fc.nat(4), fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(30), fc.constantFrom(...INSERTIONS))
  .map(([kind, place, count, inserted]) => (wire) => {
    const at = Math.floor(place * wire.length);
    const [before, after] = [wire.slice(0, at), wire.slice(at)];
    if (kind === 0) return before + after.slice(1 + (count % 3));
    if (kind === 1) return before + inserted + after;
    if (kind === 2) return before + inserted + after.slice(1);
    // Repeats the preceding characters, or ends the connection early.
    return kind === 3 ? before + before.slice(-count) + after : before;
  });

const sentPieces = fc
  .tuple(
    validResponse,
    fc.array(mutation, { maxLength: 3 }),
    fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 }),
  )
  .map(([valid, mutations, places]) => {
    const wire = mutations.reduce((mutated, mutate) => mutate(mutated), valid);
    const bytes = Buffer.from(wire, 'latin1');
    const ends = places.map((place) => Math.floor(place * bytes.length)).toSorted((a, b) => a - b);
    const pieces = [0, ...ends].map((start, i) => bytes.subarray(start, ends[i] ?? bytes.length));
    return { wire, pieces: pieces.filter(({ length }) => length > 0) };
  });

/** How the parsers disagree about a response; undefined when they agree or the difference is accepted. */
function difference(wire: string, ours: Outcome, nodes: Outcome): string | undefined {
  if (hasTabAfterValue(wire)) return undefined;
  if (!ours.isComplete) {
    const { error = 'incomplete' } = ours;
    return !nodes.isComplete || STRICTER[error]?.(wire) ? undefined : `only Node delivers it: ${error}`;
  }
  if (!nodes.isComplete) return `only our parser delivers it: ${nodes.error}`;
  if (ours.isPersistent && !nodes.isPersistent) return 'only our parser would use the connection again';
  const [content, expected] = [ours, nodes].map(({ status, headers, body: bytes }) =>
    JSON.stringify({ status, headers, bytes }),
  );
  return content === expected ? undefined : `our parser reads ${content}, Node ${expected}`;
}

describe('ResponseParser compared with the parser of node:http', () => {
  it('delivers the same response, or rejects it for an accepted reason', async () => {
    const agreement = fc.asyncProperty(sentPieces, async ({ wire, pieces }) => {
      expect(difference(wire, parseWithOurs(pieces), await parseWithNode(pieces))).toBeUndefined();
    });
    const endAt = performance.now() + TIME_LIMIT_MS;
    while (performance.now() < endAt) await fc.assert(agreement, { numRuns: RUNS_PER_BATCH });
  });
});
