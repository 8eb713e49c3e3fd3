import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeResponse } from '../../../test/kit/fake-response.js';
import { listenRequest, NO_OWNERS } from '../../../test/kit/listens.js';
import { only } from '../../../test/kit/offers.js';
import { flushPromises } from '../../../test/kit/promises.js';
import { EVERYTHING, NOTHING } from '../../core/scope.js';
import { notificationFrame, type NotificationFrame } from '../../mcp/event-frame.js';
import { SessionlessLinkOwner } from './sessionless-link-owner.js';
import { Listen, type ListenRequest } from './listen.js';

const LIMIT = 4;
const STUCK_MS = 1000;
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const ID = 'io.modelcontextprotocol/subscriptionId';
/** More than an in-memory connection holds, and one write. */
const LONG = 'x'.repeat(60_000);

const update = (n: number, filling = ''): NotificationFrame =>
  notificationFrame('u', 'resources/updated', 10, () => JSON.stringify({ n, filling }));

const result = (id: unknown): object => ({
  jsonrpc: '2.0',
  id,
  result: { resultType: 'complete', _meta: { [ID]: id } },
});

describe('Listen', () => {
  let client: FakeResponse;
  let counts: string[];
  let closes: number;
  let owners = NO_OWNERS;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    client = new FakeResponse();
    counts = [];
    closes = 0;
    owners = NO_OWNERS;
  });
  afterEach(() => void jest.useRealTimers());

  function create(more?: Partial<ListenRequest>): Listen {
    const listen = new Listen(
      listenRequest(more),
      ['tools'],
      { streamQueue: LIMIT, streamStuckMs: STUCK_MS },
      {
        countNotification: (_kind, outcome) => counts.push(outcome),
        countStreamEnd: (reason) => counts.push(reason),
      },
      owners,
    );
    listen.onClose(() => closes++);
    return listen;
  }

  async function open(listen = create()): Promise<Listen> {
    listen.open({ takeStream: () => client.response }, { toolsListChanged: true });
    await flushPromises();
    return listen;
  }

  /** A stream whose client reads nothing. */
  async function block(): Promise<Listen> {
    const listen = await open();
    client.pause();
    listen.deliver(update(0, LONG), {});
    return listen;
  }

  const numbers = (): unknown[] =>
    client.messages.filter(({ method }) => method === 'u').map(({ params }) => (params as { n: unknown }).n);

  it('writes the acknowledgement first, then the events that were queued before', async () => {
    const listen = create({ requestId: 7 });
    listen.deliver(update(1), {});
    expect(listen.hasStream).toBe(false);
    await open(listen);
    expect(client.messages).toEqual([
      {
        jsonrpc: '2.0',
        method: ACKNOWLEDGED,
        params: { _meta: { [ID]: 7 }, notifications: { toolsListChanged: true } },
      },
      { jsonrpc: '2.0', method: 'u', params: { _meta: { [ID]: 7 }, n: 1, filling: '' } },
    ]);
    expect(client.written).not.toContain('id: ');
    expect(listen.hasStream).toBe(true);
  });

  it('queues at most as many events as the limit before it is open, and only the last with one key', async () => {
    const listen = create();
    for (let n = 1; n <= 3; n++) listen.deliver(update(n), { coalesce: 'same' });
    for (let n = 10; n < 20; n++) listen.deliver(update(n), { coalesce: `key ${n}` });
    await open(listen);
    expect(numbers()).toEqual([16, 17, 18, 19]);
    expect(counts.filter((count) => count === 'coalesced')).toHaveLength(2);
    expect(counts.filter((count) => count === 'dropped')).toHaveLength(7);
  });

  it('asks for the list changes of its filter only', () => {
    const listen = create();
    expect(
      (['tools', 'prompts', 'resources'] as const).map((kind) => listen.acceptsListChange(kind)),
    ).toEqual([true, false, false]);
  });

  describe('of a client that does not read', () => {
    it('queues at most as many events as the limit, and sends them when the client reads', async () => {
      const listen = await block();
      for (let n = 1; n <= 2 * LIMIT; n++) listen.deliver(update(n), { coalesce: `key ${n}` });
      await client.resume();
      expect(numbers()).toEqual([0, 5, 6, 7, 8]);
      listen.deliver(update(9), {});
      await flushPromises();
      expect(numbers()).toEqual([0, 5, 6, 7, 8, 9]);
    });

    it('is closed after the limit of time', async () => {
      const listen = await block();
      jest.advanceTimersByTime(STUCK_MS - 1);
      expect(client.response.destroyed).toBe(false);
      jest.advanceTimersByTime(1);
      await flushPromises();
      expect([client.response.destroyed, listen.isClosed, counts.at(-1), closes]).toEqual([
        true,
        true,
        'stuck',
        1,
      ]);
    });

    it('gets no comments', async () => {
      const listen = await block();
      listen.keepAlive();
      await client.resume();
      expect(client.written).not.toContain(': keep-alive');
    });

    it('gets the queued events and then the result at the end', async () => {
      const listen = await block();
      listen.deliver(update(1), {});
      listen.end();
      listen.deliver(update(2), {});
      await client.resume();
      expect(numbers()).toEqual([0, 1]);
      expect(client.messages.at(-1)).toEqual(result('listen:0'));
    });

    it('gets only the result when it is closed', async () => {
      const listen = await block();
      listen.deliver(update(1), {});
      listen.close();
      await client.resume();
      expect(numbers()).toEqual([0]);
      expect(client.messages.at(-1)).toEqual(result('listen:0'));
      expect(closes).toBe(1);
    });

    it('loses queued events of a server that leaves the scope', async () => {
      const listen = await block();
      listen.deliver(update(1), { server: 'db' });
      listen.deliver(update(2), { server: 'git' });
      let changes = 0;
      listen.onScopeChange(() => changes++);
      listen.scope = only('git');
      await client.resume();
      expect(numbers()).toEqual([0, 2]);
      listen.scope = only('git');
      expect(changes).toBe(1);
    });
  });

  it('ends with its result, once', async () => {
    const listen = await open(create({ requestId: 'a' }));
    listen.end();
    listen.end();
    await flushPromises();
    expect(client.messages.slice(1)).toEqual([result('a')]);
    expect(client.response.writableEnded).toBe(true);
    await client.disconnect();
    expect([listen.isClosed, closes, counts]).toEqual([true, 1, ['finished']]);
  });

  it('that ends before it is open writes the acknowledgement and the result', async () => {
    const listen = create();
    listen.end();
    await open(listen);
    expect(client.messages.map(({ method }) => method)).toEqual([ACKNOWLEDGED, undefined]);
    expect(client.response.writableEnded).toBe(true);
  });

  it('writes nothing after its client has left', async () => {
    const listen = await open();
    await client.disconnect();
    expect([listen.isClosed, listen.hasStream, closes, counts]).toEqual([true, false, 1, ['left']]);
    const { written } = client;
    listen.deliver(update(1), {});
    listen.keepAlive();
    listen.end();
    listen.finish();
    await flushPromises();
    expect([client.written, closes]).toEqual([written, 1]);
  });

  it('writes comments while it is open', async () => {
    const listen = create();
    listen.keepAlive();
    await open(listen);
    listen.keepAlive();
    await flushPromises();
    expect(client.written.split(': keep-alive').length - 1).toBe(1);
  });

  it('keeps no more of the client than its name and version', () => {
    const listen = create({ clientInfo: { name: 'n', version: '1', title: LONG } });
    expect(listen.clientInfo).toEqual({ name: 'n', version: '1' });
  });

  it('keeps its link owner from being idle, from the first use of it until the stream is closed', () => {
    const created: SessionlessLinkOwner[] = [];
    owners = {
      of: ({ principal, quotaKey, sessionHandle }) => {
        const owner = new SessionlessLinkOwner(String(sessionHandle), principal, quotaKey, true);
        created.push(owner);
        return owner;
      },
    };
    const listen = create({ sessionHandle: 'h' });
    expect(created).toEqual([]);
    const owner = listen.linkOwner!;
    expect(listen.linkOwner).toBe(owner);
    expect([owner.id, owner.isIdleFor(0)]).toEqual(['h', false]);
    owner.close();
    const next = listen.linkOwner!;
    expect([created, next.isIdleFor(0)]).toEqual([[owner, next], false]);
    listen.finish();
    expect([listen.linkOwner, next.isIdleFor(0)]).toEqual([next, true]);
  });

  it('begins with the scope of its request', () => {
    expect(create().scope).toBe(EVERYTHING);
    expect(create({ scope: NOTHING }).scope).toBe(NOTHING);
  });
});
