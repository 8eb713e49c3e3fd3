import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Events, Message } from '../kit/events.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedBackend, text } from '../kit/scripted-backend.js';
import type { ScriptedCall } from '../kit/scripted-call.js';
import { deferred, until, type Deferred } from '../kit/until.js';

const REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;

/** A call in which the test decides when there is progress and when it ends. */
interface Steered {
  readonly call: ScriptedCall;
  readonly end: Deferred<void>;
}

const progressOf = ({ params }: Message): unknown => params?.['progress'];
const heard = (stream: Events, step: number): Promise<Message> =>
  stream.message(`progress ${step}`, (message) => progressOf(message) === step);
const steps = (stream: Events): unknown[] => stream.messages.filter(({ method }) => method).map(progressOf);

const isHeard = (events: Events, data: string): Promise<Message> =>
  events.message(data, ({ params }) => params?.['data'] === data);

describe('a stream that breaks', () => {
  let gateway: Gateway;
  let backend: ScriptedBackend;
  const steered: Steered[] = [];

  beforeAll(async () => {
    backend = await ScriptedBackend.start();
    backend.tool('steered', async (call) => {
      const end = deferred();
      steered.push({ call, end });
      await end.promise;
      return text('the end');
    });
    gateway = await startGateway({ mcpServers: { s: backend.http } });
    await gateway.listed({ tools: ['s'] });
  }, 30_000);

  /** A call that has begun, its stream, and the server's hand on it. */
  async function begin(session: RawSession, id: string): Promise<[Events, Steered]> {
    const before = steered.length;
    const params = { name: 's__steered', _meta: { progressToken: 'p' } };
    const opened = session.stream('tools/call', params, id);
    const call = await until('the call is under way', () => steered[before]);
    call.call.progress(1);
    const stream = await opened;
    await heard(stream, 1);
    return [stream, call];
  }

  it('is taken up where it broke: the rest of the progress, the result, and the end', async () => {
    const session = await RawSession.open(gateway.url);
    const [stream, { call, end }] = await begin(session, 'a');
    const placeOfFirst = stream.lastId;
    call.progress(2);
    await heard(stream, 2);
    stream.cut();
    call.progress(3);
    const resumed = await session.listen(placeOfFirst);
    await heard(resumed, 3);
    call.progress(4);
    await heard(resumed, 4);
    end.resolve();
    await resumed.over();
    expect(steps(resumed)).toEqual([2, 3, 4]);
    expect(resumed.messages.at(-1)).toEqual({ jsonrpc: '2.0', id: 'a', result: text('the end') });
  });

  it('can be taken up after the call has ended, and more than once', async () => {
    const session = await RawSession.open(gateway.url);
    const [stream, { call, end }] = await begin(session, 'b');
    stream.cut();
    call.progress(2);
    end.resolve();
    // An answer to something else tells that the end has come through.
    await until('the call is over', async () => {
      const again = await session.listen(stream.lastId);
      await again.over();
      return again.messages.at(-1)?.result !== undefined;
    });
    const again = await session.listen(stream.lastId);
    await again.over();
    expect(steps(again)).toEqual([2]);
    expect(again.messages.at(-1)).toMatchObject({ id: 'b', result: text('the end') });
  });

  it('goes on meanwhile: the call is not cancelled', async () => {
    const session = await RawSession.open(gateway.url);
    const [stream, { call, end }] = await begin(session, 'c');
    stream.cut();
    await session.request('ping');
    expect(call.isCancelled).toBe(false);
    end.resolve();
  });

  it('brings no event of another stream', async () => {
    const session = await RawSession.open(gateway.url);
    const [[one, first], [two, second]] = [await begin(session, 'one'), await begin(session, 'two')];
    const place = one.lastId;
    first.call.progress(11);
    second.call.progress(22);
    await Promise.all([heard(one, 11), heard(two, 22)]);
    one.cut();
    const resumed = await session.listen(place);
    first.end.resolve();
    await resumed.over();
    expect(steps(resumed)).toEqual([11]);
    expect(resumed.messages.at(-1)?.id).toBe('one');
    second.end.resolve();
    await two.over();
    expect(two.messages.at(-1)?.id).toBe('two');
  });

  it('brings nothing of another session', async () => {
    const [mine, other] = await Promise.all([RawSession.open(gateway.url), RawSession.open(gateway.url)]);
    const [stream, { end }] = await begin(mine, 'mine');
    const stolen = await other.listen(stream.lastId);
    end.resolve();
    await stream.over();
    await stolen.over();
    expect(stolen.messages).toEqual([]);
  });

  const say = (data: string): void => backend.announce('notifications/message', { level: 'info', data });

  it('is resumed also where it is the standing one', async () => {
    const session = await RawSession.open(gateway.url);
    const stream = await session.listen();
    await session.request('logging/setLevel', { level: 'debug' });
    say('one');
    await isHeard(stream, 'one');
    const place = stream.lastId;
    say('two');
    await isHeard(stream, 'two');
    stream.cut();
    say('three');
    const resumed = await session.listen(place);
    await isHeard(resumed, 'three');
    say('four');
    await isHeard(resumed, 'four');
    expect(resumed.messages.map(({ params }) => params?.['data'])).toEqual(['two', 'three', 'four']);
    resumed.cut();
  });

  it('cannot be resumed from an id that is none of ours', async () => {
    const session = await RawSession.open(gateway.url);
    for (const id of ['nonsense', '1.2.3', '-1', '99999999999999999999'])
      await expect(session.listen(id)).rejects.toThrow('400');
  });

  it.each(REVISIONS)(
    'begins with an empty event only where the revision knows it (%s)',
    async (protocolVersion) => {
      const session = await RawSession.open(gateway.url, { protocolVersion });
      const [stream, { end }] = await begin(session, 'p');
      end.resolve();
      await stream.over();
      const [first] = stream.all;
      expect(first?.data === '').toBe(protocolVersion === '2025-11-25');
      for (const { id } of stream.all) expect(id).toMatch(/^[\x21-\x7e]+$/);
    },
  );

  it('ends with its session', async () => {
    const session = await RawSession.open(gateway.url);
    const stream = await session.listen();
    expect((await session.end()).status).toBe(200);
    await stream.over();
    const again = await exchange(gateway.url, {
      headers: { accept: 'text/event-stream', 'mcp-session-id': session.id },
    });
    expect(again.status).toBe(404);
  });
});
