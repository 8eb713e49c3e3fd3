import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { onCleanup } from '../../../test/kit/cleanup.js';
import { FakeClient } from '../../../test/kit/fake-client.js';
import { configOf } from '../../../test/kit/config.js';
import { flushPromises, refusalOf } from '../../../test/kit/promises.js';
import { ScriptedServer } from '../../../test/kit/scripted-server/scripted-server.js';
import { serve } from '../../../test/kit/serve.js';
import { Limits } from '../../config/limits.js';
import { UNSHARED_CAPABILITIES, createLinkFactory, type LinkFactory } from './link-factory.js';
import { ConnectError, type Link } from './link.js';

type TimerFunction = 'setInterval' | 'setTimeout';
const TIME_FUNCTIONS = [
  'setInterval',
  'setTimeout',
  'setImmediate',
  'nextTick',
  'queueMicrotask',
  'Date',
] as const;

function fakeOnly(timer: TimerFunction): void {
  jest.useFakeTimers({ doNotFake: [...TIME_FUNCTIONS.filter((other) => other !== timer), 'performance'] });
}

const factoryFor = (entry: object): LinkFactory =>
  createLinkFactory('db', configOf({ mcpServers: { db: entry } }).mcpServers.get('db')!, new Limits());

async function connect(entry: object, factory = factoryFor(entry), owner?: FakeClient): Promise<Link> {
  const link = await factory(new AbortController().signal, owner);
  onCleanup(async () => {
    jest.useRealTimers();
    await link.close();
  });
  return link;
}

/** Polls without timers, because the tests fake them. */
async function until(condition: () => boolean): Promise<boolean> {
  const deadline = performance.now() + 20_000;
  while (!condition() && performance.now() < deadline) await flushPromises();
  return condition();
}

describe('createLinkFactory, a link to a silent server', () => {
  afterEach(() => void jest.useRealTimers());

  it('over SSE pings the server every half minute', async () => {
    fakeOnly('setInterval');
    const server = await ScriptedServer.start();
    await connect(server.sse);
    jest.advanceTimersByTime(60_000);
    expect(await until(() => server.countOf('ping') === 1)).toBe(true);
  });

  it('over Streamable HTTP pings the server when its stream was silent for a minute and a half', async () => {
    fakeOnly('setTimeout');
    const server = await ScriptedServer.start();
    const link = await connect(server.http);
    await link.notificationsReady;
    jest.advanceTimersByTime(89_000);
    await flushPromises();
    expect(server.countOf('ping')).toBe(0);
    jest.advanceTimersByTime(1000);
    expect(await until(() => server.countOf('ping') === 1)).toBe(true);
  });

  it.each([
    ['two minutes by default', {}, 120_000],
    ['keepAliveMs', { keepAliveMs: 1000 }, 1000],
  ])('over Streamable HTTP pings the server after %s without a request', async (_time, entry, ms) => {
    fakeOnly('setInterval');
    const server = await ScriptedServer.start();
    await connect({ ...server.http, ...entry });
    // The first interval contains requests.
    jest.advanceTimersByTime(2 * ms - 1);
    await flushPromises();
    expect(server.countOf('ping')).toBe(0);
    jest.advanceTimersByTime(1);
    expect(await until(() => server.countOf('ping') === 1)).toBe(true);
  });

  it('over stdio does not ping the server', async () => {
    fakeOnly('setInterval');
    const server = await ScriptedServer.start();
    await connect(server.stdio());
    jest.advanceTimersByTime(600_000);
    await flushPromises();
    expect(server.countOf('ping')).toBe(0);
  });
});

describe('createLinkFactory, a server without `type: sse` that knows SSE only', () => {
  it.each([400, 404, 405])('is used over SSE after HTTP %d to initialize', async (status) => {
    const server = await ScriptedServer.start();
    server.httpEndpoint.ssePostStatus = status;
    const entry = { url: server.sse.url };
    const factory = factoryFor(entry);
    await connect(entry, factory);
    await connect(entry, factory);
    expect(server.messages('initialize')).toHaveLength(2);
    const methods = server.httpEndpoint.requests.map(({ method }) => method);
    // The endpoint gets initialize and initialized of each link. Only the first link tried Streamable HTTP.
    expect(methods).toEqual(['POST', 'GET', 'POST', 'POST', 'GET', 'POST', 'POST']);
  });

  it('is tried over Streamable HTTP again after SSE failed', async () => {
    const server = await ScriptedServer.start();
    const factory = factoryFor({ url: server.sse.url });
    await connect({}, factory);
    await server.goDown();
    await expect(connect({}, factory)).rejects.toThrow('cannot connect');
    await server.goUp();
    const before = server.httpEndpoint.requests.length;
    await connect({}, factory);
    expect(server.httpEndpoint.requests[before]).toMatchObject({ method: 'POST' });
  });

  it.each([
    // The first POST is the probe of the era.
    [404, ['POST', 'POST', 'GET']],
    [401, ['POST', 'POST']],
    [500, ['POST', 'POST']],
  ])('fails with HTTP %d to initialize when it knows neither transport', async (status, methods) => {
    const requests: (string | undefined)[] = [];
    const { url } = await serve(({ method }, response) => {
      requests.push(method);
      response.writeHead(method === 'GET' ? 410 : status).end();
    });
    const error = await refusalOf(connect({ url }));
    expect(error).toBeInstanceOf(ConnectError);
    expect(error.message).toContain(`HTTP ${status}`);
    expect(requests).toEqual(methods);
  });
});

describe('createLinkFactory, a shared link that follows another link', () => {
  it.each([
    ['drops', 'shared link', undefined, ['message']],
    ['broadcasts', 'link of one session', new FakeClient('a'), []],
  ])('%s a log message after a call on a %s', async (_does, _link, owner, dropped) => {
    // The grace of the call does not pass.
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    onCleanup(() => clock.mockRestore());
    const server = await ScriptedServer.start();
    const config = configOf({ mcpServers: { db: server.http } }).mcpServers.get('db')!;
    const unattributed: string[] = [];
    const onUnattributed = (kind: string): void => void unattributed.push(kind);
    const factory = createLinkFactory('db', config, new Limits(), { onUnattributed });
    const first = await connect({}, factory, owner);
    await first.request({ method: 'tools/list', caller: new FakeClient('a').call(), timeoutMs: 60_000 });
    await first.close();
    const next = await connect({}, factory);
    const received: string[] = [];
    next.onNotification(({ method }) => received.push(method));
    await next.notificationsReady;
    server.broadcast('notifications/message', { level: 'info', data: 'secret of a' });
    expect(await until(() => unattributed.length + received.length > 0)).toBe(true);
    expect(unattributed).toEqual(dropped);
  });
});

const capabilitiesAt = (server: ScriptedServer): unknown =>
  server.received.find(({ message }) => message.method === 'initialize')?.message.params?.['capabilities'];

describe('createLinkFactory, the capabilities of a link', () => {
  it('declare MCP Apps, sampling and elicitation on a shared link', async () => {
    const server = await ScriptedServer.start();
    await connect(server.http);
    expect(capabilitiesAt(server)).toEqual({
      sampling: {},
      elicitation: { form: {}, url: {} },
      extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
    });
  });

  it.each(UNSHARED_CAPABILITIES)('do not declare %s on a shared link', async (name) => {
    const server = await ScriptedServer.start();
    await connect(server.http);
    const value = name.split('.').reduce<unknown>((at, key) => Object(at)[key], capabilitiesAt(server));
    expect(value).toBeUndefined();
  });

  it('are those of the client on a link of its own, without tasks', async () => {
    const server = await ScriptedServer.start();
    await connect(server.http, undefined, new FakeClient('a', { roots: {}, tasks: {} }));
    expect(capabilitiesAt(server)).toEqual({ roots: {} });
  });
});
