import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { beforeEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { onCleanup } from '../../test/kit/cleanup.js';
import { flushPromises, outcomeOf, refusalOf, type Outcome } from '../../test/kit/promises.js';
import { within } from '../../test/kit/until.js';
import { writeError } from './http-errors.js';
import { JsonProblem } from '../lib/json-text/json-reader.js';
import { inputBudget } from '../lib/slices/iteration-budget.js';
import { bodyError } from './http-request.js';
import { readBody } from './http-request-body.js';

const LIMIT = 1000;

interface Reading {
  readonly request: IncomingMessage;
  /** The outcome of reading the body. */
  readonly outcome: Outcome<string>;
  /** Resolves when the client was answered. */
  readonly done: Promise<void>;
  /** The kind of the error. */
  kind(): string | undefined;
  /** Whether data was still read when the request was refused. */
  stillReads(): boolean;
}

/** The text of the body. Rejects with the error that the endpoint answers. */
async function readText(request: IncomingMessage): Promise<string> {
  const body = await readBody(request, LIMIT);
  if (body instanceof JsonProblem) throw bodyError(body);
  return body.text;
}

/** A server that reads bodies, and a client that sends the bytes of the spec. */
class Wire {
  readonly readings: Reading[] = [];
  private readonly server = createServer((request, response) => {
    const reading = readText(request);
    const outcome = outcomeOf(reading);
    let listening = 0;
    const done = reading.then(
      () => void response.end('read'),
      (error: unknown) => {
        listening = request.listenerCount('data');
        writeError(request, response, error);
      },
    );
    const kind = (): string | undefined => (outcome.error as { kind?: string } | undefined)?.kind;
    this.readings.push({ request, outcome, done, kind, stillReads: () => listening > 0 });
    this.server.emit('reading');
  });

  async open(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    onCleanup(() => new Promise((resolve) => this.server.close(resolve).closeAllConnections()));
  }

  async connect(): Promise<Socket> {
    const socket = connect((this.server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    onCleanup(() => socket.destroy());
    return socket;
  }

  /** Sends these bytes, and waits until the server has begun to read the body. */
  async send(...parts: (string | Buffer)[]): Promise<{ socket: Socket; reading: Reading }> {
    const socket = await this.connect();
    const reading = within('a request', once(this.server, 'reading'));
    for (const part of parts) socket.write(part);
    await reading;
    return { socket, reading: this.readings.at(-1)! };
  }
}

const head = (...headers: string[]): string =>
  ['POST / HTTP/1.1', 'Host: x', ...headers, '', ''].join('\r\n');
const sized = (body: Buffer): string => head(`Content-Length: ${body.length}`);
const chunk = (bytes: Buffer | string): Buffer =>
  Buffer.concat([
    Buffer.from(`${Buffer.byteLength(bytes).toString(16)}\r\n`),
    Buffer.from(bytes),
    Buffer.from('\r\n'),
  ]);
const LAST_CHUNK = '0\r\n\r\n';
const CHUNKED = head('Transfer-Encoding: chunked');

let wire: Wire;
beforeEach(() => {
  wire = new Wire();
  return wire.open();
});

describe('readBody', () => {
  it('reads the whole body', async () => {
    const body = Buffer.from('{"ü":"😀"}');
    const { reading } = await wire.send(sized(body), body);
    await reading.done;
    expect(reading.outcome.value).toBe('{"ü":"😀"}');
  });

  it.each([
    ['an empty body', '', 'parse-error', 'Parse error: the body is not JSON'],
    ['half of a body', '{"a":', 'parse-error', 'Parse error: the body is not JSON'],
    [
      'nested arrays',
      '['.repeat(65) + ']'.repeat(65),
      'invalid-request',
      'Invalid request: the body is nested more than 64 levels deep',
    ],
  ])('refuses %s', async (_what, body, kind, message) => {
    const { reading } = await wire.send(sized(Buffer.from(body)), body);
    await reading.done;
    expect(reading.kind()).toBe(kind);
    expect(reading.outcome.error).toMatchObject({ message });
  });

  it('joins chunks at any boundary', async () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 40 }), cuts, async (value, sizes) => {
        const text = JSON.stringify(value);
        const body = Buffer.from(text);
        const chunks: Buffer[] = [];
        let at = 0;
        for (const size of [...sizes, body.length]) {
          if (at < body.length) chunks.push(chunk(body.subarray(at, at + size)));
          at += size;
        }
        const { socket, reading } = await wire.send(CHUNKED, ...chunks, LAST_CHUNK);
        await within('the body', reading.done);
        expect(reading.outcome.value).toBe(text);
        socket.destroy();
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    ['an invalid byte', Buffer.from([0x22, 0xff, 0x22])],
    ['an incomplete character', Buffer.from('"😀"').subarray(0, 3)],
    ['a surrogate', Buffer.from([0xed, 0xa0, 0x80])],
    ['an overlong encoding', Buffer.from([0xc0, 0xaf])],
  ])('refuses %s as invalid UTF-8', async (_what, body) => {
    const { reading } = await wire.send(sized(body), body);
    await within('the refusal', reading.done);
    expect(reading.kind()).toBe('parse-error');
  });

  it('removes its data listener', async () => {
    const body = Buffer.from('{}');
    const { reading } = await wire.send(sized(body), body);
    await reading.done;
    for (const event of ['data', 'error']) expect(reading.request.listenerCount(event)).toBe(0);
  });
});

describe('readBody limit', () => {
  it.each([LIMIT - 1, LIMIT])('accepts %i bytes with and without Content-Length', async (size) => {
    const body = Buffer.from(JSON.stringify('x'.repeat(size - 2)));
    const announced = await wire.send(sized(body), body);
    const chunked = await wire.send(CHUNKED, chunk(body), LAST_CHUNK);
    await Promise.all([announced.reading.done, chunked.reading.done]);
    expect(announced.reading.outcome.value).toHaveLength(size);
    expect(chunked.reading.outcome.value).toHaveLength(size);
  });

  it('applies to Content-Length before the body is read', async () => {
    const { reading } = await wire.send(head(`Content-Length: ${LIMIT + 1}`));
    await within('the refusal', reading.done);
    expect(reading.kind()).toBe('payload-too-large');
  });

  it('ends the reading at the first byte above it', async () => {
    const { reading } = await wire.send(CHUNKED, chunk('x'.repeat(LIMIT)), chunk('x'));
    await within('the refusal', reading.done);
    expect(reading.kind()).toBe('payload-too-large');
    expect(reading.stillReads()).toBe(false);
  });

  it('is answered while the client is still sending, and the connection is closed', async () => {
    const { socket, reading } = await wire.send(CHUNKED, chunk('x'.repeat(LIMIT + 1)));
    const answer: Buffer[] = [];
    socket.on('data', (bytes: Buffer) => answer.push(bytes));
    await within('the refusal', reading.done);
    await within('the end of the connection', once(socket, 'close'));
    const text = Buffer.concat(answer).toString();
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(text.toLowerCase()).toContain('connection: close');
  });
});

/** The body of a request whose pieces the spec sends. */
function receive(headers: object, claim: (bytes: number) => () => void) {
  const request = new PassThrough({ highWaterMark: 1_000_000 });
  const message = Object.assign(request, { headers }) as unknown as IncomingMessage;
  return { request, reading: readBody(message, 1_000_000, claim) };
}

describe('readBody with a claim', () => {
  const long = JSON.stringify(['a'.repeat(200_000)]);

  it.each([
    ['its announced size', { 'content-length': String(long.length) }, long.length],
    ['the limit if no size was announced', {}, 1_000_000],
  ])('claims %s at the second piece, until the body is read', async (_what, headers, expected) => {
    const claimed: number[] = [];
    let releases = 0;
    const { request, reading } = receive(headers, (bytes) => {
      claimed.push(bytes);
      return () => releases++;
    });
    request.write(long.slice(0, 10_000));
    await flushPromises();
    expect(claimed).toEqual([]);
    for (let at = 10_000; at < long.length; at += 64_000) request.write(long.slice(at, at + 64_000));
    await flushPromises();
    expect([claimed, releases]).toEqual([[expected], 0]);
    request.end();
    expect(await within('the body', reading)).toMatchObject({ text: long });
    expect(releases).toBe(1);
  });

  it('claims nothing for a body of one piece', async () => {
    const { request, reading } = receive({}, () => {
      throw new Error('claimed');
    });
    request.end('{}');
    expect(await within('the body', reading)).toMatchObject({ text: '{}' });
  });

  it('rejects and reads no further when the claim is refused', async () => {
    const { request, reading } = receive({}, () => {
      throw new Error('too much');
    });
    const refused = refusalOf(within('the refusal', reading));
    request.write('[');
    await flushPromises();
    request.write('1');
    expect(await refused).toMatchObject({ message: 'too much' });
    expect(request.listenerCount('data')).toBe(0);
  });

  it('releases the claim when the client disconnects', async () => {
    let releases = 0;
    const { request, reading } = receive({}, () => () => releases++);
    const refused = refusalOf(within('the refusal', reading));
    request.write('[');
    await flushPromises();
    request.write('1');
    await flushPromises();
    request.destroy();
    expect(await refused).toMatchObject({ message: 'The body ended early' });
    expect(releases).toBe(1);
  });
});

describe('readBody of an aborted request', () => {
  it.each([
    ['its announced length', head('Content-Length: 100') + '{"a":'],
    ['its last chunk', CHUNKED + chunk('{"a":').toString()],
  ])('rejects when the client disconnects before %s', async (_what, text) => {
    const { socket, reading } = await wire.send(text);
    socket.destroy();
    await within('the refusal', reading.done);
    expect(reading.outcome.error).toBeDefined();
    expect(reading.outcome.value).toBeUndefined();
  });

  it('reads a body to its end that waits for the budget of the event loop when it ends', async () => {
    const text = JSON.stringify(['a'.repeat(40_000)]);
    const request = new PassThrough();
    const reading = readBody(
      Object.assign(request, { headers: {} }) as unknown as IncomingMessage,
      10 * text.length,
    );
    // All pieces are buffered before the first is read, so the end comes with the last one.
    for (let at = 0; at < text.length; at += 10_000) request.write(text.slice(at, at + 10_000));
    request.end();
    request.once('data', () => inputBudget.charge(1000));
    expect(await within('the body', reading)).toMatchObject({ text });
  });
});
