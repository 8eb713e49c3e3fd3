import { resolve } from 'node:path';
import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../../test/kit/cleanup.js';
import { configOf } from '../../../test/kit/config.js';
import { FakeCaller, FakeClient } from '../../../test/kit/fake-client.js';
import { ModernSdkServer } from '../../../test/kit/modern-server/modern-sdk-server.js';
import { buildServer, createState } from '../../../test/kit/modern-server/offer.mjs';
import { refusalOf } from '../../../test/kit/promises.js';
import { ScriptedServer } from '../../../test/kit/scripted-server/scripted-server.js';
import { until } from '../../../test/kit/until.js';
import { Limits } from '../../config/limits.js';
import { createLinkFactory } from './link-factory.js';
import type { Link, LinkRequest, ServerNotification } from './link.js';
import type { TransportError } from './transport.js';

const factoryFor = (entry: object) =>
  createLinkFactory('db', configOf({ mcpServers: { db: entry } }).mcpServers.get('db')!, new Limits());

async function connect(entry: object, factory = factoryFor(entry)): Promise<Link> {
  const link = await factory(new AbortController().signal);
  onCleanup(() => link.close());
  return link;
}

const state = createState();
const STDIO = { command: process.execPath, args: [resolve('test/kit/modern-server/stdio.mjs'), 'reject'] };

/** A client of the only principal: over stdio, messages during a call are dropped for a second after a call of another. */
const clientOf = (id: string, capabilities: ClientCapabilities = {}): FakeClient =>
  new FakeClient(id, capabilities, 'principal');

interface Call {
  readonly args?: string;
  readonly meta?: string;
  readonly caller?: FakeCaller;
  readonly more?: Partial<LinkRequest>;
}

function call(link: Link, name: string, { args = '{}', meta, caller, more }: Call = {}) {
  const params = `{"name":${JSON.stringify(name)},"arguments":${args}${meta ? `,"_meta":${meta}` : ''}}`;
  return link.request({
    method: 'tools/call',
    params,
    target: name,
    timeoutMs: 20_000,
    caller: caller ?? clientOf('a').call(),
    ...more,
  });
}

const textOf = async (result: ReturnType<typeof call>): Promise<string> =>
  ((await result).toJSON() as { content: { text: string }[] }).content[0]!.text;

describe.each(['http', 'stdio'] as const)(
  'a link to a server of revision 2026-07-28 over %s',
  (transport) => {
    let server: ModernSdkServer;
    let link: Link;

    beforeAll(async () => {
      server = await ModernSdkServer.start(() => buildServer(state));
      link = await connect(transport === 'http' ? { url: server.url } : STDIO);
    });

    it('has the era 2026 and what the server says of itself', () => {
      expect(link.era).toEqual({ name: '2026', since: expect.any(Number) });
      expect(link.facts).toMatchObject({
        protocolVersion: '2026-07-28',
        serverInfo: { name: 'modern', version: '2' },
        instructions: 'Instructions of the server',
        capabilities: { resources: { subscribe: true } },
      });
    });

    it.each(['tools/list', 'prompts/list', 'resources/list'])('requests %s', async (method) => {
      expect((await link.request({ method, timeoutMs: 20_000 })).toJSON()).toMatchObject({
        resultType: 'complete',
      });
    });

    it('calls a tool', async () => {
      expect(await textOf(call(link, 'echo', { args: '{"text":"hello"}' }))).toBe('hello');
    });

    it('gets a prompt whose name is not ASCII', async () => {
      const params = '{"name":"größe"}';
      const prompt = await link.request({ method: 'prompts/get', params, timeoutMs: 20_000 });
      expect(prompt.toJSON()).toMatchObject({ messages: [{ content: { text: 'groß' } }] });
    });

    it('repeats arguments in headers', async () => {
      const paramHeaders = [
        { name: 'Region', path: ['region'] },
        { name: 'Count', path: ['count'] },
      ];
      const args = '{"region":" größer ","count":4.2e1}';
      expect(await textOf(call(link, 'route', { args, more: { paramHeaders } }))).toBe(
        '{"region":" größer ","count":42}',
      );
    });

    it('tells the server the capabilities and the log level of the client', async () => {
      const caller = new FakeCaller(clientOf('b', { sampling: {}, tasks: {} }));
      Object.assign(caller, { logLevel: 'warning' });
      expect(JSON.parse(await textOf(call(link, 'envelope', { caller })))).toEqual({
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'gatehouse', version: expect.any(String) },
        'io.modelcontextprotocol/clientCapabilities': { sampling: {} },
        'io.modelcontextprotocol/logLevel': 'warning',
      });
    });

    it('forwards log messages of a call to its client', async () => {
      const messages: ServerNotification[] = [];
      link.onNotification((notification) => messages.push(notification));
      const caller = clientOf('c').call();
      Object.assign(caller, { logLevel: 'info' });
      await call(link, 'log', { caller });
      const [message] = messages.filter(({ method }) => method === 'notifications/message');
      expect(message).toMatchObject({ channel: caller, params: { data: 'logged by the call' } });
    });

    it('says for a missing resource what revisions of 2025 say', async () => {
      const params = '{"uri":"test://none"}';
      const error = await refusalOf(link.request({ method: 'resources/read', params, timeoutMs: 20_000 }));
      expect(error).toMatchObject({ code: -32002, text: expect.stringContaining('"code":-32002') });
    });

    it('asks the client for the input that a result requires', async () => {
      const caller = clientOf('d', { elicitation: {} }).call();
      const result = call(link, 'ask', { caller });
      const asked = await until('the client is asked', () => caller.requests[0]);
      expect(asked).toMatchObject({ method: 'elicitation/create', params: { message: 'Your name?' } });
      asked.answer({ action: 'accept', content: { name: 'Ada' } });
      expect(await textOf(result)).toBe(`accept Ada ${JSON.stringify(' state "é\u2028 ')}`);
    });

    it('answers a call with an error when the client cannot be asked', async () => {
      const result = await call(link, 'ask');
      expect(result.toJSON()).toMatchObject({
        isError: true,
        content: [{ text: expect.stringMatching(/capabilit/) }],
      });
    });

    it('fails a prompt when the client cannot be asked', async () => {
      const caller = clientOf('e').call();
      const params = '{"name":"ask"}';
      const error = await refusalOf(
        link.request({ method: 'prompts/get', params, caller, timeoutMs: 20_000 }),
      );
      expect(error).toMatchObject({ kind: 'internal' });
    });

    it('probes the server without a ping', async () => {
      const { received } = link;
      await link.probe(20_000);
      expect(link.received).toBeGreaterThan(received);
    });

    it('cancels a call at the server, after its progress', async () => {
      const caller = clientOf('f').call();
      const result = refusalOf(call(link, 'wait', { caller, meta: '{"progressToken":"mine"}' }));
      await until('progress arrives', () => caller.notifications[0]);
      expect(caller.notifications[0]).toEqual({
        method: 'notifications/progress',
        params: { progressToken: 'mine', progress: 1 },
      });
      caller.cancel();
      expect(await result).toMatchObject({ kind: 'cancelled' });
      // The state of a child process is not visible here.
      if (transport === 'http') await until('the server notices', () => state.cancelled > 0);
    });
  },
);

describe('the era of a link', () => {
  it.each([
    ['auto', 'reject', '2026'],
    ['auto', 'stateless', '2026'],
    ['2026', 'stateless', '2026'],
    ['2025', 'stateless', '2025'],
  ] as const)('with era %s to a server with legacy: %s is %s', async (era, legacy, expected) => {
    const server = await ModernSdkServer.start(() => buildServer(), { legacy });
    expect((await connect({ url: server.url, era })).era.name).toBe(expected);
  });

  it('cannot be 2025 if the server refuses that', async () => {
    const server = await ModernSdkServer.start(() => buildServer());
    const error = await refusalOf(connect({ url: server.url, era: '2025' }));
    expect(error.message).toContain('Unsupported protocol version: 2025-11-25');
  });

  it('cannot be 2026 if the server does not offer that', async () => {
    const server = await ScriptedServer.start();
    const overHttp = await refusalOf(connect({ ...server.http, era: '2026' }));
    expect(overHttp.message).toContain('does not offer MCP revision 2026-07-28: HTTP 400');
    const overStdio = await refusalOf(connect({ ...server.stdio(), era: '2026' }));
    expect(overStdio.message).toContain('does not offer MCP revision 2026-07-28: ');
  });

  it('is 2025 after one probe of a server of 2025', async () => {
    const server = await ScriptedServer.start();
    const link = await connect(server.http);
    expect([link.era.name, server.httpEndpoint.probes, server.countOf('initialize')]).toEqual(['2025', 1, 1]);
  });

  it('is 2025 for a stdio server that serves both, without a probe', async () => {
    const both = { ...STDIO, args: [STDIO.args[0]!] };
    expect((await connect(both)).era.name).toBe('2025');
    expect((await connect({ ...both, era: '2026' })).era.name).toBe('2026');
  });

  it('ends the link when the server is replaced by one that speaks only the other era', async () => {
    const modern = await ModernSdkServer.start(() => buildServer());
    const { port, url } = modern;
    const factory = factoryFor({ url });
    const link = await connect({ url }, factory);
    await modern.stop();
    const both = await ModernSdkServer.start(() => buildServer(), { legacy: 'stateless', port });
    const legacyLink = await connect({ url, era: '2025' });
    expect(await textOf(call(link, 'echo', { args: '{"text":"hello"}' }))).toBe('hello');
    await both.stop();
    await ModernSdkServer.start(() => buildServer(), { port });
    // The first call may still be sent over a connection to the server before.
    const error = await until('the era is refused', async () => {
      const refusal = (await refusalOf(call(legacyLink, 'echo'))) as TransportError;
      return refusal.fault === 'session-expired' && refusal;
    });
    expect(await legacyLink.closed).toBe(error);
  });
});
