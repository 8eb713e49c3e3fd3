import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { bodyOf, freePort } from '../../test/kit/http.js';
import { deferred, until, within } from '../../test/kit/until.js';
import type { BridgeLimits } from './bridge-connection.js';
import { StdioBridge } from './stdio-bridge.js';

interface Received {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Answer = (request: Received, response: ServerResponse) => void;

const STREAM = { 'content-type': 'text/event-stream' };
const INITIALIZE = '{"jsonrpc":"2.0","id":0,"method":"initialize"}';
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** An HTTP server in place of the gateway, and a bridge to it. */
async function bridgeTo(answer: Answer, limits: Partial<BridgeLimits> = {}) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const one = { method: request.method ?? '', headers: request.headers, body };
      received.push(one);
      answer(one, response);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onCleanup(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { received, ...startBridge(port, limits) };
}

function startBridge(port: number, limits: Partial<BridgeLimits>) {
  const lines: string[] = [];
  const notes: string[] = [];
  const out = {
    write: (line: string) => Promise.resolve(void lines.push(line)),
    note: (text: string) => void notes.push(text),
  };
  const input = new PassThrough();
  const bridge = new StdioBridge(`http://127.0.0.1:${port}/mcp`, 'the-key', out, limits);
  const done = bridge.run(input);
  onCleanup(() => bridge.close());
  return { lines, notes, input, bridge, done };
}

const json = (response: ServerResponse, text: string, headers = {}): void =>
  void response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(text);

const accepted = (response: ServerResponse): void => void response.writeHead(202).end();

const initialized = (response: ServerResponse, session: string, version = '2025-11-25'): void =>
  json(response, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"${version}"}}`, {
    'mcp-session-id': session,
  });

const message = (method: string, id = ''): string => `{"jsonrpc":"2.0",${id}"method":"${method}"}\n`;

const SUBSCRIBE = 'resources/subscribe';
const uriOf = (body: string): string => (JSON.parse(body) as { params: { uri: string } }).params.uri;
const ask = (id: number, method: string, uri: string): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params: { uri } })}\n`;
const reply = (response: ServerResponse, body: string, more: object): void => {
  const { id } = JSON.parse(body) as { id: number };
  json(response, JSON.stringify({ jsonrpc: '2.0', id, ...more }));
};
const updated = (uri: string): string =>
  JSON.stringify({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } });

/** A gateway whose session `s1` expires with the first ping; `refuse` decides about the subscriptions of `s2`. */
const expiringGateway = (
  refuse: (uri: string) => object | undefined | Promise<undefined>,
  limits?: Partial<BridgeLimits>,
) => {
  let sessions = 0;
  return bridgeTo(({ method, headers, body }, response) => {
    const isFirst = headers['mcp-session-id'] === 's1';
    if (body === INITIALIZE) initialized(response, `s${++sessions}`);
    else if (method === 'GET') response.writeHead(405).end();
    else if (body.includes('"ping"') && isFirst) response.writeHead(404).end();
    else if (body.includes(SUBSCRIBE) && uriOf(body) === 'x:refused')
      reply(response, body, { error: { code: -32602, message: 'unknown' } });
    else if (body.includes(SUBSCRIBE) && !isFirst)
      void Promise.resolve(refuse(uriOf(body))).then((error) =>
        reply(response, body, error ?? { result: {} }),
      );
    else if (body.includes('"id"')) reply(response, body, { result: {} });
    else accepted(response);
  }, limits);
};
const subscribeAll = (uris: readonly string[]): string =>
  uris.map((uri, index) => ask(index + 1, SUBSCRIBE, uri)).join('');

describe('StdioBridge', () => {
  it('forwards the text of every message and the credentials, and ends the session with its input', async () => {
    const result = '{"jsonrpc":"2.0", "id":"a", "result":{"x":1.0,"big":12345678901234567890}}';
    const { received, lines, input, done } = await bridgeTo(({ method, body }, response) => {
      if (body === INITIALIZE) initialized(response, 's1');
      else if (body.includes('"a"')) json(response, result.replace(', ', ',\n'));
      else if (method === 'GET') response.writeHead(405).end();
      else accepted(response);
    });
    const call = '{ "jsonrpc":"2.0","id":"a","method":"tools/call","params":{"n":1.0},"unknown":[] }';
    input.end(`${INITIALIZE}\n${INITIALIZED}\n${call}\n`);
    await within('the bridge to end', done);
    expect(lines[1]).toBe(result);
    const posts = received.filter(({ method }) => method === 'POST');
    expect(posts.map(({ body }) => body)).toEqual([INITIALIZE, INITIALIZED, call]);
    expect(posts[2]!.headers).toMatchObject({
      authorization: 'Bearer the-key',
      'mcp-session-id': 's1',
      'mcp-protocol-version': '2025-11-25',
    });
    expect(received.at(-1)).toMatchObject({ method: 'DELETE', headers: { 'mcp-session-id': 's1' } });
  });

  it('opens another session with the same initialize when the session has expired', async () => {
    let sessions = 0;
    /** The refusal of a request that arrives after the session was opened again. */
    const late: ServerResponse[] = [];
    const { received, lines, notes, input } = await bridgeTo(({ method, headers, body }, response) => {
      if (body === INITIALIZE) initialized(response, `s${++sessions}`);
      else if (method === 'GET') response.writeHead(405).end();
      else if (headers['mcp-session-id'] === 's1' && body.includes('"id":3')) late.push(response);
      else if (headers['mcp-session-id'] === 's1' && body.includes('ping')) response.writeHead(404).end();
      else if (body.includes('ping')) json(response, body.replace('"method":"ping"', '"result":{}'));
      else accepted(response);
    });
    const pings = [1, 2, 3].map((id) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`);
    input.write(`${INITIALIZE}\n${INITIALIZED}\n${pings.join('')}`);
    await until('two answers arrive', () => lines.length === 3 && late.length === 1);
    late[0]!.writeHead(404).end();
    await until('the last answer arrives', () => lines.length === 4);
    expect(sessions).toBe(2);
    expect(lines.slice(1).toSorted()).toEqual(
      pings.map((ping) => ping.trim().replace('"method":"ping"', '"result":{}')),
    );
    expect(received.filter(({ body }) => body === INITIALIZED)).toHaveLength(2);
    expect(notes).toEqual(['the session has expired; another one was opened']);
  });

  it('sends the protocol version that was negotiated for the current session', async () => {
    const versions = ['2025-11-25', '2025-06-18'];
    let sessions = 0;
    const { received, lines, input } = await bridgeTo(({ method, headers, body }, response) => {
      if (body === INITIALIZE) initialized(response, `s${sessions + 1}`, versions[sessions++]);
      else if (method === 'GET') response.writeHead(405).end();
      else if (headers['mcp-session-id'] === 's1' && body.includes('ping')) response.writeHead(404).end();
      else if (body.includes('ping')) json(response, body.replace('"method":"ping"', '"result":{}'));
      else accepted(response);
    });
    input.write(`${INITIALIZE}\n${INITIALIZED}\n${message('ping', '"id":1,')}`);
    await until('the answer arrives', () => lines.length === 2);
    const inSecondSession = received.filter(({ headers }) => headers['mcp-session-id'] === 's2');
    expect(inSecondSession.map(({ body, headers }) => [body, headers['mcp-protocol-version']])).toEqual([
      [INITIALIZED, '2025-06-18'],
      [message('ping', '"id":1,').trim(), '2025-06-18'],
    ]);
  });

  describe('with subscriptions of an expired session', () => {
    it('subscribes again to what the client has subscribed to, with one update each', async () => {
      const { received, lines, input } = await expiringGateway(() => undefined);
      input.write(`${INITIALIZE}\n${INITIALIZED}\n${subscribeAll(['x:a', 'x:b', 'x:c', 'x:refused'])}`);
      await until('the subscriptions are answered', () => lines.length === 5);
      input.write(ask(8, 'resources/unsubscribe', 'x:b'));
      await until('the unsubscription is answered', () => lines.length === 6);
      input.write('{"jsonrpc":"2.0","id":9,"method":"ping"}\n');
      await until('the answer and both updates arrive', () => lines.length === 9);
      expect(lines.slice(6)).toEqual(expect.arrayContaining([updated('x:a'), updated('x:c')]));
      const again = received.filter(
        ({ headers, body }) => headers['mcp-session-id'] === 's2' && body.includes(SUBSCRIBE),
      );
      expect(again.map(({ body }) => uriOf(body))).toEqual(['x:a', 'x:c']);
    });

    it('subscribes again to a server that is down until it is up, and reports what is refused', async () => {
      let attempts = 0;
      const { lines, notes, input } = await expiringGateway((uri) => {
        if (uri === 'x:gone') return { error: { code: -32602, message: 'no such resource' } };
        if (uri === 'x:down' && ++attempts < 3) return { error: { code: -31003, message: 'down' } };
        return undefined;
      });
      input.write(`${INITIALIZE}\n${INITIALIZED}\n${subscribeAll(['x:down', 'x:gone', 'x:up'])}`);
      await until('the subscriptions are answered', () => lines.length === 4);
      input.write('{"jsonrpc":"2.0","id":9,"method":"ping"}\n');
      await until('the answer and both updates arrive', () => lines.length === 7);
      expect(lines.slice(4)).toEqual(expect.arrayContaining([updated('x:up'), updated('x:down')]));
      expect(attempts).toBe(3);
      expect(notes).toContain('the subscription to x:gone was lost: no such resource');
    });

    it('ends a subscription that the client has ended meanwhile', async () => {
      const answered = deferred<undefined>();
      const { received, lines, input } = await expiringGateway(() => answered.promise);
      const unsubscribe = ask(8, 'resources/unsubscribe', 'x:a');
      const count = (): number => received.filter(({ body }) => body.includes('unsubscribe')).length;
      input.write(`${INITIALIZE}\n${INITIALIZED}\n${subscribeAll(['x:a'])}`);
      await until('the subscription is answered', () => lines.length === 2);
      input.write('{"jsonrpc":"2.0","id":9,"method":"ping"}\n');
      await until('the subscription is repeated', () =>
        received.some(({ headers, body }) => headers['mcp-session-id'] === 's2' && body.includes(SUBSCRIBE)),
      );
      input.write(unsubscribe);
      await until('the client has unsubscribed', () => lines.some((line) => line.includes('"id":8')));
      answered.resolve(undefined);
      await until('the bridge has unsubscribed', () => count() === 2);
      expect(lines).not.toContain(updated('x:a'));
    });

    it('gives up a subscription to a server that is down for reconnectMs', async () => {
      const down = { error: { code: -31003, message: 'down' } };
      const { lines, notes, input } = await expiringGateway(() => down, { reconnectMs: 0 });
      input.write(`${INITIALIZE}\n${INITIALIZED}\n${subscribeAll(['x:down'])}`);
      await until('the subscription is answered', () => lines.length === 2);
      input.write('{"jsonrpc":"2.0","id":9,"method":"ping"}\n');
      await until('the loss is reported', () =>
        notes.includes('subscriptions lost because their servers are unavailable: 1'),
      );
      expect(lines).not.toContain(updated('x:down'));
    });
  });

  it('resumes the stream of an answer whose connection is lost, and reports an answer that cannot be resumed', async () => {
    const { lines, input } = await bridgeTo(({ method, headers, body }, response) => {
      if (method === 'GET' && headers['last-event-id'] === 'e1')
        response.writeHead(200, STREAM).end('id: e2\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
      else if (method === 'GET') response.writeHead(400).end('{"error":{"code":-32600,"message":"gone"}}');
      else {
        const id = body.includes('"id":1') ? 'e1' : 'e9';
        response
          .writeHead(200, STREAM)
          .write(`id: ${id}\ndata: {"jsonrpc":"2.0","method":"m","params":{}}\n\n`, () => response.destroy());
      }
    });
    input.write('{"jsonrpc":"2.0","id":1,"method":"tools/call"}\n');
    await until('the first answer arrives', () => lines.some((line) => line.includes('"id":1')));
    expect(lines).toEqual([
      '{"jsonrpc":"2.0","method":"m","params":{}}',
      '{"jsonrpc":"2.0","id":1,"result":{}}',
    ]);
    input.write('{"jsonrpc":"2.0","id":2,"method":"tools/call"}\n');
    await until('the second answer arrives', () => lines.some((line) => line.includes('"id":2')));
    expect(JSON.parse(lines.at(-1)!)).toEqual({
      jsonrpc: '2.0',
      id: 2,
      error: { code: -32000, message: 'gone' },
    });
  });

  it('answers with the error of a refused request, under the id of the request', async () => {
    const { lines, notes, input } = await bridgeTo(({ body }, response) => {
      response.writeHead(body.includes('"id"') ? 401 : 400);
      response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-31001,"message":"a key is required"}}');
    });
    input.write(`${INITIALIZE}\n${INITIALIZED}\n`);
    await until('the notification is refused', () => notes.length > 0);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { jsonrpc: '2.0', id: 0, error: { code: -31001, message: 'a key is required' } },
    ]);
    expect(notes).toEqual(['a key is required']);
  });

  it('refuses messages that are too long or not JSON, and requests above the limit', async () => {
    const { lines, input } = await bridgeTo(() => {}, { messageBytes: 100, requests: 1 });
    input.write(`${'x'.repeat(101)}\n{\n`);
    input.write('{"jsonrpc":"2.0","id":1,"method":"a"}\n{"jsonrpc":"2.0","id":2,"method":"a"}\n');
    await until('three errors arrive', () => lines.length === 3);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { id: null, error: { code: -32600 } },
      { id: null, error: { code: -32700 } },
      { id: 2, error: { code: -31029, data: { code: 'Overloaded', limit: 1 } } },
    ]);
  });

  it('answers with an error when the gateway does not listen for too long', async () => {
    const { lines, notes, input } = startBridge(await freePort(), { reconnectMs: 0 });
    input.write('{"jsonrpc":"2.0","id":1,"method":"a"}\n');
    await until('the error arrives', () => lines.length === 1);
    expect(JSON.parse(lines[0]!)).toMatchObject({
      id: 1,
      error: { code: -32000, message: expect.stringContaining('connection refused') },
    });
    expect(notes.length).toBeLessThanOrEqual(1);
  });

  it('ends after drainMs although a request has no answer', async () => {
    const { received, input, done } = await bridgeTo(() => {}, { drainMs: 10 });
    input.write('{"jsonrpc":"2.0","id":1,"method":"a"}\n');
    await until('the request arrives', () => received.length === 1);
    input.end();
    await within('the bridge to end', done);
    expect(received).toHaveLength(1);
  });

  it('ends with its input although the gateway does not listen', async () => {
    const { lines, input, done } = startBridge(await freePort(), { drainMs: 10 });
    input.end(`${INITIALIZE}\n${INITIALIZED}\n`);
    await within('the bridge to end', done);
    expect(lines).toEqual([]);
  });

  it('sends messages in order, and requests after the messages before them', async () => {
    const release: (() => void)[] = [];
    const { received, input } = await bridgeTo(({ body }, response) => {
      if (body.includes('"first"')) release.push(() => accepted(response));
      else accepted(response);
    });
    input.write(message('first') + message('second') + message('third', '"id":1,'));
    await until('the first message arrives', () => release.length > 0);
    expect(received).toHaveLength(1);
    release[0]!();
    await until('the others arrive', () => received.length === 3);
    expect(received.map(({ body }) => /"method":"(\w+)"/.exec(body)?.[1])).toEqual([
      'first',
      'second',
      'third',
    ]);
  });

  it('sends a message again whose connection is lost before the answer, but not a tool call', async () => {
    const seen = new Set<string>();
    const { received, lines, input } = await bridgeTo(({ body }, response) => {
      if (seen.has(body)) json(response, body.replace(/"method":"[^"]+"/, '"result":{}'));
      else response.destroy();
      seen.add(body);
    });
    input.write(message('tools/list', '"id":1,') + message('tools/call', '"id":2,'));
    await until('both are answered', () => lines.length === 2);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
      expect.arrayContaining([
        { jsonrpc: '2.0', id: 1, result: {} },
        expect.objectContaining({ id: 2, error: expect.objectContaining({ code: -32000 }) }),
      ]),
    );
    expect(received.filter(({ body }) => body.includes('tools/call'))).toHaveLength(1);
  });
});
