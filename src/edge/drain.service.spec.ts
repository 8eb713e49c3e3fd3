import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { CancelSignal } from '../lib/cancellation/cancellation.js';
import { onCleanup } from '../../test/kit/cleanup.js';
import { exchange } from '../../test/kit/http.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { callModern } from '../../test/kit/modern-calls.js';
import { outcomeOf } from '../../test/kit/promises.js';
import { RawSession } from '../../test/kit/raw-session.js';
import { deferred, until, within } from '../../test/kit/until.js';
import { Metrics } from '../metrics/metrics.js';
import { Drain } from './drain.service.js';
import type { Listens } from './modern/listens.service.js';
import type { SessionPersistence } from './session-persistence.js';
import { EdgeHarness } from '../../test/kit/edge-harness.js';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

let edge: EdgeHarness;
beforeEach(async () => {
  Logger.overrideLogger(false);
  edge = new EdgeHarness();
  await edge.listen();
  onCleanup(() => edge.close());
});

const metrics = new Metrics();

/** Whether the standalone streams were open when the last activity was written. */
let wereStreamsOpen: boolean | undefined;
/** `wereStreamsOpen` when the listen streams were ended. */
let hadEndedListens: boolean | undefined;

interface DrainOptions {
  readonly drainMs?: number;
  readonly acceptMs?: number;
  readonly signal?: NodeJS.Signals;
}

function createDrain({ drainMs = 60_000, acceptMs = 0 }: DrainOptions = {}): Drain {
  const writeActivity = (): Promise<void> => {
    wereStreamsOpen = [...edge.sessions.all()].every(({ streams }) => streams.standalone.isConnected);
    return Promise.resolve();
  };
  const persistence = { writeActivity } as SessionPersistence;
  const settings = { drainMs, acceptMs };
  const listens = {
    endAll: () => {
      hadEndedListens = wereStreamsOpen;
    },
  } as Pick<Listens, 'endAll'> as Listens;
  const { receiver, sessions, modernRequests, parking } = edge;
  const drain = new Drain(
    receiver,
    sessions,
    persistence,
    settings,
    metrics,
    modernRequests,
    parking.parked,
    listens,
  );
  drain.server = edge.gateway;
  return drain;
}

const drain = (options: DrainOptions = {}): Promise<void> =>
  createDrain(options).beforeApplicationShutdown(options.signal ?? 'SIGTERM');

/** Waits until responses announce the end of their connection. */
const untilClosing = (): Promise<unknown> =>
  until('the accept phase is over', async () => (await exchange(edge.url)).headers.connection === 'close');

/** A request in flight, with a function that ends it. */
async function inFlight(session: RawSession) {
  const end = deferred<object>();
  const started = deferred<CancelSignal>();
  edge.handlers.set('slow', (_params, { signal }) => {
    started.resolve(signal);
    return Promise.race([
      end.promise,
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut off')))),
    ]);
  });
  const answer = session.request('slow', {}, 7);
  const signal = await within('the request', started.promise);
  return { answer, signal, end: end.resolve };
}

describe('Drain', () => {
  it('ends all streams at once when no request is in flight, after the last activity was written', async () => {
    const session = await RawSession.open(edge.url);
    const events = await session.listen();
    await within('the drain', drain());
    await events.untilEnded();
    expect([wereStreamsOpen, hadEndedListens]).toEqual([true, true]);
  });

  it('keeps sessions open: a request on an open connection is served until the connection is closed', async () => {
    const session = await RawSession.open(edge.url);
    await within('the drain', drain());
    const { status, headers } = await session.post(PING);
    expect([status, headers.connection]).toEqual([200, 'close']);
    expect(edge.sessions.size).toBe(1);
  });

  it('serves requests as before in the accept phase, but is not ready', async () => {
    const session = await RawSession.open(edge.url);
    const service = createDrain({ acceptMs: 60_000 });
    expect(service.isDraining).toBe(false);
    const draining = outcomeOf(service.beforeApplicationShutdown('SIGTERM'));
    expect(service.isDraining).toBe(true);
    const { status, headers } = await session.post(PING);
    expect([status, headers.connection]).toEqual([200, 'keep-alive']);
    expect((await (await RawSession.open(edge.url)).request('ping')).result).toEqual({});
    await session.listen();
    expect(draining).toEqual({});
  });

  it.each<[string, DrainOptions]>([
    ['acceptMs', { acceptMs: 50 }],
    ['drainMs, if that is less than acceptMs', { drainMs: 50, acceptMs: 60_000 }],
    ['no accept phase after SIGINT', { acceptMs: 60_000, signal: 'SIGINT' }],
  ])('closes the listener after %s', async (_time, options) => {
    const { url } = edge;
    await within('the drain', drain(options));
    await expect(exchange(url)).rejects.toThrow('ECONNREFUSED');
  });

  it('lets requests in flight finish, serves what arrives on open connections, and closes those after their answer', async () => {
    const session = await RawSession.open(edge.url);
    const slow = await inFlight(session);
    await session.post(PING);
    const draining = drain();
    await untilClosing();
    for (let n = 0; n < 3; n++) {
      const { status, headers } = await session.post(PING);
      expect([status, headers.connection]).toEqual([200, 'close']);
    }
    expect(slow.signal.aborted).toBe(false);
    slow.end({ n: 1 });
    expect((await slow.answer).result).toEqual({ n: 1 });
    await within('the drain', draining);
  });

  it('announces the end of the connection in the answer to a request in flight', async () => {
    const session = await RawSession.open(edge.url);
    const answer = deferred<object>();
    edge.handlers.set('slow', () => answer.promise);
    const response = session.post({ jsonrpc: '2.0', id: 7, method: 'slow' });
    await until('the request is running', () => edge.receiver.inFlight.size > 0);
    const draining = drain();
    await untilClosing();
    answer.resolve({});
    expect((await response).headers.connection).toBe('close');
    await within('the drain', draining);
  });

  it('keeps idle connections open for a balancer that reuses one, until it has noticed that the listener is closed', async () => {
    const session = await RawSession.open(edge.url);
    const draining = outcomeOf(drain({ acceptMs: 300 }).then(() => 'drained'));
    await until('the listener is closed', () => !edge.isListening);
    expect((await session.post(PING)).status).toBe(200);
    await until('the drain is over', () => draining.value);
  });

  it('ends standalone streams after the last request, with the notifications until then', async () => {
    const session = await RawSession.open(edge.url);
    const events = await session.listen();
    const { answer, end } = await inFlight(session);
    const draining = drain();
    const [served] = edge.sessions.all();
    served!.notify('notifications/x', undefined);
    await events.message('the notification', ({ method }) => method === 'notifications/x');
    expect(events.hasEnded).toBe(false);
    end({});
    expect((await answer).result).toEqual({});
    await within('the drain', draining);
    await events.untilEnded();
  });

  it('logs the number of requests that it waits for, and the ten oldest', async () => {
    const lines = recordLog();
    const session = await RawSession.open(edge.url);
    const end = deferred<object>();
    edge.handlers.set('slow', () => end.promise);
    const answers = Array.from({ length: 12 }, (_, id) => session.request('slow', {}, id));
    await until('twelve requests are running', () => edge.receiver.inFlight.size === 12);
    const draining = drain();
    const logged = JSON.parse(
      await until('the requests are logged', () => lines.find((line) => line.includes('the drain waits'))),
    ) as { requests: number; oldest: { method: string; runningMs: number }[] };
    expect(logged).toMatchObject({ message: 'the drain waits for requests in flight', requests: 12 });
    expect(logged.oldest.map(({ method }) => method)).toEqual(Array.from({ length: 10 }, () => 'slow'));
    const ages = logged.oldest.map(({ runningMs }) => runningMs);
    expect(ages).toEqual(ages.toSorted((a, b) => b - a));
    end.resolve({});
    await Promise.all(answers);
    await within('the drain', draining);
  });

  it('accepts responses that requests in flight wait for', async () => {
    edge.handlers.set('ask', (_params, context) =>
      context.sendRequest('roots/list', undefined, { signal: context.signal }),
    );
    const session = await RawSession.open(edge.url, { capabilities: { roots: {} } });
    const events = await session.stream('ask', {}, 7);
    const serverRequest = await events.message('the server request', ({ method }) => method === 'roots/list');
    const draining = drain();
    await session.reply(serverRequest.id, { roots: [] });
    await events.untilEnded();
    expect(events.messages.at(-1)).toMatchObject({ id: 7, result: { roots: [] } });
    await within('the drain', draining);
  });

  it('cancels requests after the drain deadline', async () => {
    const warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
    const session = await RawSession.open(edge.url);
    const { answer, signal } = await inFlight(session);
    await within('the drain', drain({ drainMs: 0 }));
    expect(signal.aborted).toBe(true);
    expect((await answer).error).toBeDefined();
    await until('the receiver is idle', () => edge.receiver.inFlight.whenIdle().then(() => true));
    const message = 'requests were cut off by the drain deadline';
    const { id } = [...edge.sessions.all()][0]!;
    const request = { method: 'slow', session: id.slice(0, 16), principal: 'anonymous', client: 'raw 1' };
    expect(warned).toHaveBeenCalledWith({
      message,
      requests: 1,
      oldest: [{ ...request, runningMs: expect.any(Number) }],
    });
    expect(await metrics.text()).toContain('gatehouse_requests_cut_off_total 1\n');
    warned.mockRestore();
  });

  it('waits for requests without a session, and cancels them after the deadline', async () => {
    const warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
    const { url } = edge;
    const started = deferred<CancelSignal>();
    edge.handlers.set('tools/list', (_params, { signal }) => {
      started.resolve(signal);
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve({ tools: [] })));
    });
    const answer = callModern(url, 'tools/list');
    const signal = await within('the request', started.promise);
    await within('the drain', drain({ drainMs: 50 }));
    expect(signal.aborted).toBe(true);
    expect((await answer).result).toBeDefined();
    expect(warned).toHaveBeenCalledWith({
      message: 'requests were cut off by the drain deadline',
      requests: 1,
      oldest: [
        { method: 'tools/list', principal: 'anonymous', client: 'raw 2', runningMs: expect.any(Number) },
      ],
    });
    warned.mockRestore();
  });
});
