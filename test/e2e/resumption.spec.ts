import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Events, Message } from '../kit/events.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import type { ScriptedCall } from '../kit/scripted-server/scripted-call.js';
import { deferred, until, type Deferred } from '../kit/until.js';

const REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;

/** A call whose progress and end the test controls. */
interface ControlledCall {
  readonly call: ScriptedCall;
  readonly end: Deferred<void>;
}

const progressOf = ({ params }: Message): unknown => params?.['progress'];
const untilProgress = (stream: Events, step: number): Promise<Message> =>
  stream.message(`progress ${step}`, (message) => progressOf(message) === step);
const steps = (stream: Events): unknown[] => stream.messages.filter(({ method }) => method).map(progressOf);

const untilLogged = (events: Events, data: string): Promise<Message> =>
  events.message(data, ({ params }) => params?.['data'] === data);

describe('a broken event stream', () => {
  let gateway: Gateway;
  let server: ScriptedServer;
  const controlled: ControlledCall[] = [];

  beforeAll(async () => {
    server = await ScriptedServer.start();
    server.tool('controlled', async (call) => {
      const end = deferred();
      controlled.push({ call, end });
      await end.promise;
      return text('the end');
    });
    gateway = await startGateway({ mcpServers: { s: server.http } });
    await gateway.listed({ tools: ['s'] });
  });

  /** Starts a call; returns its event stream after the first progress, and its control. */
  async function begin(session: RawSession, id: string): Promise<[Events, ControlledCall]> {
    const before = controlled.length;
    const params = { name: 's__controlled', _meta: { progressToken: 'p' } };
    const opened = session.stream('tools/call', params, id);
    const call = await until('the call arrives at the server', () => controlled[before]);
    call.call.progress(1);
    const stream = await opened;
    await untilProgress(stream, 1);
    return [stream, call];
  }

  it('resumes after Last-Event-ID with the remaining progress and the result, then ends', async () => {
    const session = await RawSession.open(gateway.url);
    const [stream, { call, end }] = await begin(session, 'a');
    const idOfFirst = stream.lastId;
    call.progress(2);
    await untilProgress(stream, 2);
    stream.disconnect();
    call.progress(3);
    const resumed = await session.listen(idOfFirst);
    await untilProgress(resumed, 3);
    call.progress(4);
    await untilProgress(resumed, 4);
    end.resolve();
    await resumed.untilEnded();
    expect(steps(resumed)).toEqual([2, 3, 4]);
    expect(resumed.messages.at(-1)).toEqual({ jsonrpc: '2.0', id: 'a', result: text('the end') });
  });

  it('can be resumed after the call has ended, and more than once', async () => {
    const session = await RawSession.open(gateway.url);
    const [stream, { call, end }] = await begin(session, 'b');
    stream.disconnect();
    call.progress(2);
    end.resolve();
    // The result arrives at the gateway some time after `end`.
    await until('the call is over', async () => {
      const again = await session.listen(stream.lastId);
      await again.untilEnded();
      return again.messages.at(-1)?.result !== undefined;
    });
    const again = await session.listen(stream.lastId);
    await again.untilEnded();
    expect(steps(again)).toEqual([2]);
    expect(again.messages.at(-1)).toMatchObject({ id: 'b', result: text('the end') });
  });

  it('does not cancel its call', async () => {
    const session = await RawSession.open(gateway.url);
    const [stream, { call, end }] = await begin(session, 'c');
    stream.disconnect();
    await session.request('ping');
    expect(call.isCancelled).toBe(false);
    end.resolve();
  });

  it('replays no event of another stream', async () => {
    const session = await RawSession.open(gateway.url);
    const [[one, first], [two, second]] = [await begin(session, 'one'), await begin(session, 'two')];
    const lastId = one.lastId;
    first.call.progress(11);
    second.call.progress(22);
    await Promise.all([untilProgress(one, 11), untilProgress(two, 22)]);
    one.disconnect();
    const resumed = await session.listen(lastId);
    first.end.resolve();
    await resumed.untilEnded();
    expect(steps(resumed)).toEqual([11]);
    expect(resumed.messages.at(-1)?.id).toBe('one');
    second.end.resolve();
    await two.untilEnded();
    expect(two.messages.at(-1)?.id).toBe('two');
  });

  it('replays no event of another session', async () => {
    const [mine, other] = await Promise.all([RawSession.open(gateway.url), RawSession.open(gateway.url)]);
    const [stream, { end }] = await begin(mine, 'mine');
    const stolen = await other.listen(stream.lastId);
    end.resolve();
    await stream.untilEnded();
    await stolen.untilEnded();
    // The id of the request comes from Last-Event-ID. Nothing else is known of a stream of another session.
    expect(stolen.messages).toMatchObject([{ id: 'mine', error: { code: -31009 } }]);
  });

  const log = (data: string): void => server.broadcast('notifications/message', { level: 'info', data });

  it('resumes when it was opened with GET', async () => {
    const session = await RawSession.open(gateway.url);
    const stream = await session.listen();
    await session.request('logging/setLevel', { level: 'debug' });
    // Log messages are dropped while a call has ended within the last second.
    await until('a log message arrives', () => {
      log('zero');
      return stream.messages.some(({ params }) => params?.['data'] === 'zero');
    });
    log('one');
    await untilLogged(stream, 'one');
    const lastId = stream.lastId;
    log('two');
    await untilLogged(stream, 'two');
    stream.disconnect();
    log('three');
    const resumed = await session.listen(lastId);
    await untilLogged(resumed, 'three');
    log('four');
    await untilLogged(resumed, 'four');
    expect(resumed.messages.map(({ params }) => params?.['data'])).toEqual(['two', 'three', 'four']);
    resumed.disconnect();
  });

  it('is not resumed after an invalid Last-Event-ID', async () => {
    const session = await RawSession.open(gateway.url);
    for (const id of ['invalid', '1.2.3', '-1', '99999999999999999999'])
      await expect(session.listen(id)).rejects.toThrow('400');
  });

  it.each(REVISIONS)(
    'began with an empty event only if the revision requires it (%s)',
    async (protocolVersion) => {
      const session = await RawSession.open(gateway.url, { protocolVersion });
      const [stream, { end }] = await begin(session, 'p');
      end.resolve();
      await stream.untilEnded();
      const [first] = stream.all;
      expect(first?.data === '').toBe(protocolVersion === '2025-11-25');
      for (const { id } of stream.all) expect(id).toMatch(/^[\x21-\x7e]+$/);
    },
  );

  it('ends with its session', async () => {
    const session = await RawSession.open(gateway.url);
    const stream = await session.listen();
    expect((await session.end()).status).toBe(200);
    await stream.untilEnded();
    const again = await exchange(gateway.url, {
      headers: { accept: 'text/event-stream', 'mcp-session-id': session.id },
    });
    expect(again.status).toBe(404);
  });
});
