import { hash } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Events, Message } from '../kit/events.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawSession } from '../kit/raw-session.js';
import { Scrape } from '../kit/scrape.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { deferred, until, type Deferred } from '../kit/until.js';

const MESSAGE = 'notifications/message';

const logMessage = (data: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', method: MESSAGE, params: { level: 'error', data } });

const levels = (messages: readonly Message[]): unknown[] =>
  messages.filter(({ method }) => method === MESSAGE).map(({ params }) => params?.['level']);

const key = (id: string): object => ({ id, hash: `sha256:${hash('sha256', id)}`, projects: ['*'] });

describe('log messages', () => {
  let server: ScriptedServer;
  let url: string;
  let metricsUrl: string;

  beforeAll(async () => {
    server = await ScriptedServer.start();
    server.tool('talk', (call) => {
      for (const level of ['debug', 'info', 'warning', 'error'])
        call.notify(MESSAGE, { level, data: call.args['secret'] });
      return text('done');
    });
    // As servers do that answer with JSON: the message goes to the notification stream, on another connection.
    server.tool('late', (call) => {
      void call.ended.then(() => call.link.send(logMessage(call.args['secret'])));
      return text('done');
    });
    const gateway = await startGateway({ mcpServers: { s: server.http } });
    await gateway.listed({ tools: ['s'] });
    url = gateway.url;
    metricsUrl = gateway.urlOf('/metrics');
  });

  async function listener(level?: string): Promise<[RawSession, Events]> {
    const session = await RawSession.open(url);
    if (level) await session.request('logging/setLevel', { level });
    return [session, await session.listen()];
  }

  it('outside a call reach every client that set a level, from that level up', async () => {
    const [[, debugStream], [, errorStream], [, streamWithoutLevel]] = await Promise.all([
      listener('debug'),
      listener('error'),
      listener(),
    ]);
    for (const level of ['debug', 'info', 'error', 'emergency'])
      server.broadcast(MESSAGE, { level, data: 'x' });
    await until('the last message arrived', () =>
      [debugStream, errorStream].every(({ messages }) => levels(messages).includes('emergency')),
    );
    expect(levels(debugStream.messages)).toEqual(['debug', 'info', 'error', 'emergency']);
    expect(levels(errorStream.messages)).toEqual(['error', 'emergency']);
    expect(streamWithoutLevel.messages).toEqual([]);
  });

  it('of a call reach only its client, on the stream of that call', async () => {
    const [session] = await listener('warning');
    const [, other] = await listener('debug');
    const { before } = await session.callTool('s__talk', { secret: 'mine' });
    expect(levels(before)).toEqual(['warning', 'error']);
    expect(JSON.stringify(other.messages)).not.toContain('mine');
  });

  it('of a call that are read after its response reach no other client', async () => {
    const names = ['a', 'b'];
    const clients = await Promise.all(names.map(() => listener('debug')));
    const received = new Map(names.map((name) => [name, new Array<unknown>()]));
    const callRepeatedly = async (index: number, count: number): Promise<void> => {
      for (let n = 0; n < count; n++) {
        const { before } = await clients[index]![0].callTool('s__late', { secret: names[index] });
        received.get(names[index]!)!.push(...before.map(({ params }) => params?.['data']));
      }
    };
    await callRepeatedly(0, 300);
    await Promise.all([callRepeatedly(0, 300), callRepeatedly(1, 300)]);
    // Messages of the server reach all clients again when no call has ended for a second.
    await until('the last message arrived', () => {
      server.broadcast(MESSAGE, { level: 'error', data: 'last' });
      return clients.every(([, { messages }]) => JSON.stringify(messages).includes('last'));
    });
    for (const [index, [, { messages }]] of clients.entries())
      received.get(names[index]!)!.push(...messages.map(({ params }) => params?.['data']));
    const leaked = names.map((name) =>
      received.get(name)!.filter((data) => data !== name && data !== 'last'),
    );
    expect(leaked.map(({ length }) => length)).toEqual([0, 0]);
    const own = names.flatMap((name) => received.get(name)!.filter((data) => data === name));
    const scrape = new Scrape(await (await fetch(metricsUrl)).text());
    const labels = { server_id: 's', kind: 'message' };
    const dropped = scrape.value('gatehouse_unattributed_server_messages_total', labels)!;
    expect(own.length + dropped).toBeGreaterThanOrEqual(900);
  });

  it('are requested from the server at the lowest level of its clients, also after its restart', async () => {
    await listener('error');
    await server.untilReceived('logging/setLevel', ({ params }) => params?.['level'] === 'debug');
    const before = server.countOf('logging/setLevel');
    server.httpEndpoint.expireSessions();
    await until('the server gets the level again', () => server.countOf('logging/setLevel') > before);
    expect(server.messages('logging/setLevel').at(-1)?.message.params).toEqual({ level: 'debug' });
  });
});

describe('messages that a server sends on one stream', () => {
  let gateway: Gateway;
  let server: ScriptedServer;
  /** Calls of `hold` last until a test resolves this. */
  let holding: Deferred<void>;
  /** What the server got for the requests that it sent after a response. */
  const replies: Message[] = [];

  beforeAll(async () => {
    server = await ScriptedServer.start();
    server.tool('talk', (call) => {
      call.notify(MESSAGE, { level: 'error', data: call.args['secret'] });
      return text('done');
    });
    server.tool('late', (call) => {
      const { secret } = call.args;
      void call.ended.then(async () => {
        call.link.send(logMessage(secret));
        replies.push(await call.link.sendRequest('elicitation/create', { message: secret }));
      });
      return text('done');
    });
    server.tool('hold', async (call) => {
      await Promise.race([holding.promise, call.ended]);
      return text('done');
    });
    gateway = await startGateway({
      metrics: { public: true },
      auth: { apiKeys: [key('a'), key('b')] },
      mcpServers: { stdio: server.stdio(), sse: server.sse },
    });
    await gateway.listed({ tools: ['stdio', 'sse'] }, { authorization: 'Bearer a' });
  });

  async function open(id: string): Promise<RawSession> {
    const headers = { authorization: `Bearer ${id}` };
    const session = await RawSession.open(gateway.url, { headers, capabilities: { elicitation: {} } });
    session.onServerRequest = () => ({ action: 'decline' });
    await session.request('logging/setLevel', { level: 'debug' });
    return session;
  }

  it.each(['stdio', 'sse'])('after its response reach no client of another key (%s)', async (name) => {
    const [a, b] = await Promise.all([open('a'), open('b')]);
    const stream = await b.listen();
    holding = deferred();
    replies.length = 0;
    const held = b.callTool(`${name}__hold`);
    await until('the call of b is in flight', () => server.inFlight === 1);
    await a.callTool(`${name}__late`, { secret: 'secret of a' });
    await until('the server has its reply', () => replies.length === 1);
    holding.resolve();
    const { before } = await held;
    expect([before, stream.messages, b.serverRequests]).toEqual([[], [], []]);
    expect(replies[0]!.error).toMatchObject({ message: expect.stringContaining('isolation') });
    const scrape = new Scrape(await (await fetch(gateway.urlOf('/metrics'))).text());
    const dropped = ['message', 'request'].map((kind) =>
      scrape.value('gatehouse_unattributed_server_messages_total', { server_id: name, kind }),
    );
    expect(dropped).toEqual([1, 1]);
  });

  it.each(['stdio', 'sse'])(
    'during calls reach the clients of one key that call in turn (%s)',
    async (name) => {
      const clients = await Promise.all([open('b'), open('b')]);
      await until('no call of another key ended within a second', async () => {
        const { before } = await clients[0].callTool(`${name}__talk`, { secret: 0 });
        return before.length === 1;
      });
      for (const [index, client] of [...clients.entries(), ...clients.entries()]) {
        const { before } = await client.callTool(`${name}__talk`, { secret: index });
        expect(before.map(({ params }) => params?.['data'])).toEqual([index]);
      }
    },
  );
});
