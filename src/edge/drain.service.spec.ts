import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { CancelSignal } from '../lib/cancellation/cancellation.js';
import { onCleanup } from '../../test/kit/cleanup.js';
import { RawSession } from '../../test/kit/raw-session.js';
import { deferred, until, within } from '../../test/kit/until.js';
import { Drain } from './drain.service.js';
import type { SessionPersistence } from './session-persistence.js';
import { EdgeHarness } from '../../test/kit/edge-harness.js';

let edge: EdgeHarness;
beforeEach(async () => {
  Logger.overrideLogger(false);
  edge = new EdgeHarness();
  await edge.listen();
  onCleanup(() => edge.close());
});

/** The number of sessions when persistence was stopped. */
let sessionsAtStop: number | undefined;

function drain(drainMs: number): Promise<void> {
  const stop = (): void => void (sessionsAtStop = edge.sessions.size);
  const persistence = { stop } as SessionPersistence;
  return new Drain(edge.endpoint, edge.receiver, edge.sessions, persistence, {
    drainMs,
  }).beforeApplicationShutdown();
}

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
  it('closes all sessions at once when no request is in flight', async () => {
    const session = await RawSession.open(edge.url);
    const events = await session.listen();
    await within('the drain', drain(60_000));
    await events.untilEnded();
    expect(edge.sessions.size).toBe(0);
  });

  it('stops persistence before it closes sessions', async () => {
    await RawSession.open(edge.url);
    await within('the drain', drain(60_000));
    expect(sessionsAtStop).toBe(1);
  });

  it('lets requests in flight finish and refuses new ones', async () => {
    const session = await RawSession.open(edge.url);
    const { answer, end, signal } = await inFlight(session);
    const draining = drain(60_000);
    expect((await session.post({ jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(503);
    expect(signal.aborted).toBe(false);
    end({ n: 1 });
    expect((await answer).result).toEqual({ n: 1 });
    await within('the drain', draining);
    expect(edge.sessions.size).toBe(0);
  });

  it('ends standalone streams first and ignores later notifications', async () => {
    const session = await RawSession.open(edge.url);
    const events = await session.listen();
    const { end } = await inFlight(session);
    const draining = drain(60_000);
    const [served] = edge.sessions.all();
    served!.notify('notifications/x', undefined);
    await events.untilEnded();
    expect(events.messages).toEqual([]);
    end({});
    await within('the drain', draining);
  });

  it('accepts responses that requests in flight wait for', async () => {
    edge.handlers.set('ask', (_params, context) =>
      context.sendRequest('roots/list', undefined, { signal: context.signal }),
    );
    const session = await RawSession.open(edge.url, { capabilities: { roots: {} } });
    const events = await session.stream('ask', {}, 7);
    const serverRequest = await events.message('the server request', ({ method }) => method === 'roots/list');
    const draining = drain(60_000);
    await session.reply(serverRequest.id, { roots: [] });
    await events.untilEnded();
    expect(events.messages.at(-1)).toMatchObject({ id: 7, result: { roots: [] } });
    await within('the drain', draining);
  });

  it('cancels requests after the drain deadline', async () => {
    const warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
    const session = await RawSession.open(edge.url);
    const { answer, signal } = await inFlight(session);
    await within('the drain', drain(0));
    expect(signal.aborted).toBe(true);
    expect((await answer).error).toBeDefined();
    await until('the receiver is idle', () => edge.receiver.whenIdle().then(() => true));
    expect(warned).toHaveBeenCalledWith({ message: 'requests were cut off by the drain deadline' });
    warned.mockRestore();
  });
});
