import { once } from 'node:events';
import { get } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { ResponseParser } from './response-parser.js';
import { HttpHarness } from '../../../../test/kit/http-harness.js';
import { within } from '../../../../test/kit/until.js';

const harness = new HttpHarness();
afterEach(harness.release);

/** Parses the pieces and then the end of the connection. */
function read(pieces: readonly Buffer[]) {
  const seen = { status: 0, headers: {}, body: '', ends: 0, isReusable: false };
  const parser = new ResponseParser(() => {
    seen.ends++;
    seen.isReusable = parser.head?.isPersistent === true;
  });
  parser.start({
    onHead: ({ status, headers }) => Object.assign(seen, { status, headers }),
    onBody: (bytes) => (seen.body += bytes.toString('latin1')),
  });
  // All pieces share the same memory, as on a connection.
  const memory = Buffer.alloc(Math.max(0, ...pieces.map(({ length }) => length)));
  for (const piece of pieces) {
    piece.copy(memory);
    parser.push(memory.subarray(0, piece.length));
    memory.fill('?');
  }
  parser.close();
  return seen;
}

const readText = (text: string) => read([Buffer.from(text, 'latin1')]);
const response = (head: string, body = ''): string =>
  `HTTP/1.1 200 OK\r\n${head}${head && '\r\n'}\r\n${body}`;

/** Splits bytes at places given as fractions. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = places.map((place) => Math.floor(place * bytes.length)).toSorted((a, b) => a - b);
  return [0, ...ends].map((start, i) => bytes.subarray(start, ends[i] ?? bytes.length));
}

const chunked = (parts: readonly string[]): string =>
  parts
    .filter((part) => part !== '')
    .map((part) => `00${part.length.toString(16)};note=x\r\n${part}\r\n`)
    .join('') + '0\r\nx-trailer: y\r\n\r\n';

describe('ResponseParser', () => {
  const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
  const text = fc.string({ unit: 'binary-ascii' });

  it('parses every framing in any pieces', () => {
    fc.assert(
      fc.property(
        fc.array(text),
        places,
        fc.constantFrom('length', 'chunked', 'until-close'),
        (parts, at, framing) => {
          const body = parts.join('');
          const wire = {
            length: response(`Content-Length: ${body.length}`, body),
            chunked: response('Transfer-Encoding: chunked', chunked(parts)),
            'until-close': response('', body),
          }[framing];
          const interim = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n';
          expect(read(cut(Buffer.from(interim + wire, 'latin1'), at))).toMatchObject({
            status: 200,
            body,
            ends: 1,
            isReusable: framing !== 'until-close',
          });
        },
      ),
    );
  });

  it('gives header names in lower case, trimmed values, and an array for a repeated field', () => {
    const { headers } = readText(
      response(
        'Content-Type: \t application/json \t\r\nX-Two: 1\r\nx-two: 2\r\nX-TWO:3\r\nempty:\r\nconstructor: x',
      ),
    );
    expect(headers).toEqual({
      'content-type': 'application/json',
      'x-two': ['1', '2', '3'],
      empty: '',
      constructor: 'x',
    });
  });

  it.each([204, 304])('expects no body with status %d despite content-length', (status) => {
    const wire = `HTTP/1.1 ${status} x\r\ncontent-length: 5\r\n\r\n`;
    expect(readText(wire)).toMatchObject({ status, body: '', ends: 1 });
  });

  it.each([
    ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', true],
    ['HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n', true],
    ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: Upgrade, Close\r\n\r\n', false],
    ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: x\r\nconnection: close\r\n\r\n', false],
    ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: closed\r\n\r\n', true],
    ['HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n', false],
    ['HTTP/1.0 200 OK\r\ncontent-length: 0\r\nconnection: keep-alive\r\n\r\n', true],
  ])('after %j the connection is persistent: %s', (wire, isReusable) => {
    expect(readText(wire)).toMatchObject({ ends: 1, isReusable });
  });

  it.each([
    ['timeout=5', 5000],
    ['max=3, timeout=12', 12_000],
    ['timeout=-1', undefined],
    ['notimeout=7', undefined],
  ])('reads keep-alive %j as %s ms', (value, ms) => {
    const parser = new ResponseParser(() => {});
    parser.start({ onHead: () => {}, onBody: () => {} });
    parser.push(Buffer.from(response(`keep-alive: ${value}\r\ncontent-length: 0`)));
    expect(parser.head?.keepAliveMs).toBe(ms);
  });

  it.each([
    'HTTP/1.1 200 OK\r\ncontent-le',
    response('content-length: 5', 'half'),
    response('transfer-encoding: chunked', '5\r\nabc'),
  ])('does not complete when the connection ends after %j', (wire) => {
    expect(readText(wire).ends).toBe(0);
  });

  it('reads each head of a connection, also one that differs in one byte from the head before it', () => {
    const [first, second] = ['content-length: 2\r\nx: a', 'content-length: 2\r\nx: b'];
    const seen: unknown[] = [];
    const parser = new ResponseParser(() => {});
    for (const head of [first, first, second, first]) {
      parser.start({ onHead: ({ headers }) => seen.push(headers['x']), onBody: () => {} });
      parser.push(Buffer.from(response(head, 'ok')));
    }
    expect(seen).toEqual(['a', 'a', 'b', 'a']);
  });

  it('rejects bytes after the response', () => {
    expect(() => readText(response('content-length: 2', 'okHTTP/1.1 200 OK\r\n'))).toThrow(
      'more than a response',
    );
  });

  it.each([
    ['a head', `x: ${'y'.repeat(17_000)}`, ''],
    ['an endless head', 'x: y\r\n'.repeat(4000), ''],
    ['a chunk size line', 'transfer-encoding: chunked', `1;${'y'.repeat(5000)}`],
    ['trailers', 'transfer-encoding: chunked', `0\r\n${'a: b\r\n'.repeat(2000)}\r\n`],
  ])('limits the length of %s', (_what, head, body) => {
    const bytes = Buffer.from(response(head, body));
    expect(() =>
      read(
        cut(
          bytes,
          Array.from({ length: 50 }, (_, i) => i / 50),
        ),
      ),
    ).toThrow(/more than|too long|too many/);
  });
});

/** Responses that are not HTTP, or about whose end two parsers could disagree. */
const MALFORMED = [
  'HTTP/2 200 OK\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 20 OK\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 2000 OK\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 200 OK\ncontent-length: 0\n\n\r\n\r\n',
  'ICY 200 OK\r\ncontent-length: 0\r\n\r\n',
  '{"jsonrpc":"2.0"}\r\n\r\n',
  response('content-length: -1'),
  response('content-length: +1', 'x'),
  response('content-length: 1 1', 'x'),
  response('content-length: 0x1', 'x'),
  response('content-length: 1\r\ncontent-length: 2', 'xx'),
  response('content-length: 99999999999999999999', 'x'),
  response('content-length: 5\r\ntransfer-encoding: chunked', '0\r\n\r\n'),
  response('content length: 0'),
  response('content-length : 0'),
  response(' folded: 0\r\ncontent-length: 0'),
  response(': nameless\r\ncontent-length: 0'),
  response('no colon\r\ncontent-length: 0'),
  response('x: a\0b\r\ncontent-length: 0'),
  response('x: a\rb\r\ncontent-length: 0'),
  response('transfer-encoding: chunked', 'x\r\n'),
  response('transfer-encoding: chunked', '-1\r\n'),
  response('transfer-encoding: chunked', '\r\n'),
  response('transfer-encoding: chunked', '2\r\nabc\r\n0\r\n\r\n'),
  response('transfer-encoding: chunked', '11111111111111111\r\n'),
  response('transfer-encoding: chunked', '0\r\nbare\nline: feed\r\n\r\n'),
  response('transfer-encoding: chunked', '0\r\nno colon\r\n\r\n'),
];

/** Accepted by Node. The gateway requests none of these, and all of them are used for response splitting. */
const STRICTER = [
  response('transfer-encoding: gzip, chunked', '0\r\n\r\n'),
  response('transfer-encoding: identity', 'x'),
  response('transfer-encoding: chunked\r\ntransfer-encoding: chunked', '0\r\n\r\n'),
  response('content-length: 1, 1', 'x'),
  response('content-length: 1\r\ncontent-length: 1', 'x'),
  'HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
];

describe('ResponseParser with an ambiguous response', () => {
  it.each([...MALFORMED, ...STRICTER])('rejects %j', (wire) => {
    expect(() => readText(wire)).toThrow(/response|server/);
  });

  it.each(MALFORMED)('agrees with the client of Node, which rejects %j', async (wire) => {
    const server = createServer((socket) => socket.on('error', () => {}).end(wire, 'latin1')).listen(
      0,
      '127.0.0.1',
    );
    harness.onRelease(async () => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const outcome = new Promise<string>((resolve) => {
      get({ host: '127.0.0.1', port, agent: false }, (incoming) => {
        incoming.on('error', () => resolve('rejected')).on('end', () => resolve('read'));
        incoming.resume();
      }).on('error', () => resolve('rejected'));
    });
    expect(await within('an outcome', outcome)).toBe('rejected');
  });

  it('rejects random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (noise) => {
        expect(() => read([Buffer.concat([noise, Buffer.from('\r\n\r\n')])])).toThrow(/response|server/);
      }),
    );
  });
});
