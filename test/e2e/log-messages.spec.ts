import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Events, Message } from '../kit/events.js';
import { startGateway } from '../kit/gateway.js';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { until } from '../kit/until.js';

const MESSAGE = 'notifications/message';

const levels = (messages: readonly Message[]): unknown[] =>
  messages.filter(({ method }) => method === MESSAGE).map(({ params }) => params?.['level']);

describe('log messages', () => {
  let server: ScriptedServer;
  let url: string;

  beforeAll(async () => {
    server = await ScriptedServer.start();
    server.tool('talk', (call) => {
      for (const level of ['debug', 'info', 'warning', 'error'])
        call.notify(MESSAGE, { level, data: call.args['secret'] });
      return text('done');
    });
    const gateway = await startGateway({ mcpServers: { s: server.http } });
    await gateway.listed({ tools: ['s'] });
    url = gateway.url;
  }, 30_000);

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

  it('are requested from the server at the lowest level of its clients, also after its restart', async () => {
    await listener('error');
    await server.untilReceived('logging/setLevel', ({ params }) => params?.['level'] === 'debug');
    const before = server.countOf('logging/setLevel');
    server.httpEndpoint.expireSessions();
    await until('the server gets the level again', () => server.countOf('logging/setLevel') > before);
    expect(server.messages('logging/setLevel').at(-1)?.message.params).toEqual({ level: 'debug' });
  });
});
