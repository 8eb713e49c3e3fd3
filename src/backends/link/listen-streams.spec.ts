import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { flushPromises, outcomeOf, refusalOf } from '../../../test/kit/promises.js';
import { RemoteError } from '../../core/errors.js';
import type { CancelSignal } from '../../lib/cancellation/cancellation.js';
import { JsonText } from '../../lib/json-text/json-text.js';
import type { LinkRequest } from './link.js';
import { ListenStreams } from './listen-streams.js';

const ID = 'io.modelcontextprotocol/subscriptionId';
const SEVEN = ['a:1', 'a:2', 'a:3', 'a:4', 'a:5', 'a:6', 'a:7'];
const UPDATED = 'notifications/resources/updated';

interface Listen {
  readonly id: number;
  readonly notifications: { resourceSubscriptions?: string[] };
  readonly signal: CancelSignal;
  end(error?: Error): void;
}

/** The server: records each listen, and acknowledges what `honours` returns. */
class Listener {
  readonly listens: Listen[] = [];
  readonly states: string[] = [];
  honours = (uris: string[]): string[] | undefined => uris;
  readonly streams = new ListenStreams(
    (request) => this.listen(request),
    { stateChanged: (state) => void this.states.push(state) },
    (count) => void (this.awaited += count),
  );
  awaited = 0;
  /** Whether an acknowledgement was not recognised. */
  forwarded = false;

  get open(): Listen[] {
    return this.listens.filter(({ signal }) => !signal.aborted);
  }

  /** The URIs of each open stream. */
  get uris(): (string[] | undefined)[] {
    return this.open.map(({ notifications }) => notifications.resourceSubscriptions);
  }

  acknowledge({ id, notifications }: Listen, uris = notifications.resourceSubscriptions): void {
    const params = { _meta: { [ID]: id }, notifications: { ...notifications, resourceSubscriptions: uris } };
    const method = 'notifications/subscriptions/acknowledged';
    this.forwarded ||= this.streams.receive(method, params, JSON.stringify(params));
  }

  update(uri: string, id: number): boolean {
    return this.streams.receive(UPDATED, { uri, _meta: { [ID]: id } });
  }

  private listen({ params, signal, onIdAssigned }: LinkRequest): Promise<JsonText> {
    return new Promise((resolve, reject) => {
      const id = this.listens.length + 1;
      const { notifications } = JSON.parse(params!) as Pick<Listen, 'notifications'>;
      signal!.addEventListener('abort', () => reject(new Error('cancelled')));
      const end = (error?: Error): void => (error ? reject(error) : resolve(new JsonText('{}')));
      const listen: Listen = { id, notifications, signal: signal!, end };
      this.listens.push(listen);
      onIdAssigned!(id);
      const { resourceSubscriptions } = notifications;
      const honoured = this.honours(resourceSubscriptions ?? []);
      if (honoured) setImmediate(() => this.acknowledge(listen, resourceSubscriptions && honoured));
    });
  }
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 6; turn++) await flushPromises();
};

const remote = (code: number): RemoteError => new RemoteError(code, 'no', `{"code":${code},"message":"no"}`);

const fakeTimeouts = (): void =>
  void jest.useFakeTimers({
    doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'setInterval', 'Date', 'performance'],
  });

describe('ListenStreams', () => {
  afterEach(() => void jest.useRealTimers());

  it('opens one stream for list changes', async () => {
    const server = new Listener();
    await server.streams.start({ toolsListChanged: true });
    expect(server.listens.map(({ notifications }) => notifications)).toEqual([{ toolsListChanged: true }]);
    expect(server.states).toEqual(['open']);
    expect(server.awaited).toBe(0);
    expect(server.forwarded).toBe(false);
    server.streams.stop();
    expect(server.open).toEqual([]);
  });

  it('reports that the server does not know the method', async () => {
    const server = new Listener();
    server.honours = () => undefined;
    const started = server.streams.start({ toolsListChanged: true });
    server.listens[0]!.end(remote(-32601));
    await started;
    expect(server.states).toEqual(['none']);
    expect(server.awaited).toBe(0);
  });

  it('subscribes URIs together that are wanted at the same time, each once', async () => {
    const server = new Listener();
    await Promise.all(['a:1', 'a:2', 'a:1'].map((uri) => server.streams.subscribe(uri)));
    expect(server.uris).toEqual([['a:1', 'a:2']]);
    await server.streams.subscribe('a:1');
    expect(server.listens).toHaveLength(1);
  });

  it('refuses URIs that the server leaves out', async () => {
    const server = new Listener();
    server.honours = (uris) => uris.filter((uri) => uri !== 'a:2');
    const first = outcomeOf(server.streams.subscribe('a:1'));
    expect(await refusalOf(server.streams.subscribe('a:2'))).toMatchObject({ code: -32602 });
    expect(first.error).toBeUndefined();
    expect(await refusalOf(server.streams.subscribe('a:2'))).toBeInstanceOf(RemoteError);
  });

  it('refuses all when the server refuses the stream', async () => {
    const server = new Listener();
    server.honours = () => undefined;
    const subscribed = refusalOf(server.streams.subscribe('a:1'));
    await settle();
    server.listens[0]!.end(remote(-32603));
    expect(await subscribed).toMatchObject({ code: -32603 });
  });

  it('does not wait for an acknowledgement for longer than ten seconds', async () => {
    fakeTimeouts();
    const server = new Listener();
    server.honours = () => undefined;
    const subscribed = refusalOf(server.streams.subscribe('a:1'));
    await settle();
    jest.advanceTimersByTime(10_000);
    expect((await subscribed).message).toContain('did not acknowledge');
    expect(server.open).toEqual([]);
    expect(server.awaited).toBe(0);
  });

  it('closes a stream without URIs', async () => {
    const server = new Listener();
    await server.streams.subscribe('a:1');
    server.streams.unsubscribe('a:1');
    expect(server.open).toEqual([]);
  });

  it('merges the smallest of more than eight streams, and closes them after the new one is acknowledged', async () => {
    fakeTimeouts();
    const server = new Listener();
    const large = Array.from({ length: 20 }, (_, index) => `b:${index}`);
    await Promise.all(large.map((uri) => server.streams.subscribe(uri)));
    await server.streams.start({ toolsListChanged: true });
    for (const uri of SEVEN) await server.streams.subscribe(uri);
    await settle();
    expect(server.open).toHaveLength(10);
    jest.advanceTimersByTime(250);
    await settle();
    expect(server.uris).toEqual([large, SEVEN]);
    expect(server.open.at(-1)?.notifications).toMatchObject({ toolsListChanged: true });
  });

  it('keeps the number of streams within its limit while many URIs are subscribed one after the other', async () => {
    fakeTimeouts();
    const server = new Listener();
    let maxOpen = 0;
    const uris = Array.from({ length: 100 }, (_, index) => `a:${index}`);
    for (const uri of uris) {
      const subscribed = outcomeOf(server.streams.subscribe(uri).then(() => true));
      for (let turn = 0; turn < 20 && !subscribed.value; turn++) {
        await settle();
        maxOpen = Math.max(maxOpen, server.open.length);
        if (turn > 2) jest.advanceTimersByTime(250);
      }
      expect(subscribed).toEqual({ value: true });
    }
    expect(maxOpen).toBeLessThanOrEqual(21);
    jest.advanceTimersByTime(250);
    await settle();
    expect(new Set(server.uris.flat())).toEqual(new Set(uris));
    const sentUris = server.listens.reduce(
      (sum, { notifications }) => sum + notifications.resourceSubscriptions!.length,
      0,
    );
    // A URI is sent a few times, not once for each later one.
    expect(sentUris).toBeLessThan(4 * uris.length);
  });

  it('passes an update once that comes on a stream and on the one that replaces it', async () => {
    fakeTimeouts();
    const server = new Listener();
    for (const uri of [...SEVEN, 'a:8', 'a:9']) await server.streams.subscribe(uri);
    await settle();
    const [old] = server.listens;
    const merged = server.listens.at(-1)!;
    expect([server.update('a:1', old!.id), server.update('a:1', merged.id)]).toEqual([true, false]);
    jest.advanceTimersByTime(250);
    await settle();
    expect(server.update('a:1', merged.id)).toBe(true);
  });

  it('keeps the streams when the server refuses the one that would replace them', async () => {
    const server = new Listener();
    for (const uri of [...SEVEN, 'a:8']) await server.streams.subscribe(uri);
    server.honours = (uris) => (uris.length === 1 ? uris : undefined);
    await server.streams.subscribe('a:9');
    await settle();
    server.listens.at(-1)!.end(remote(-32603));
    await settle();
    expect(new Set(server.uris.flat())).toEqual(new Set([...SEVEN, 'a:8', 'a:9']));
  });

  it('opens a narrower stream when most URIs are not wanted any more', async () => {
    fakeTimeouts();
    const server = new Listener();
    const uris = Array.from({ length: 20 }, (_, index) => `a:${index}`);
    await Promise.all(uris.map((uri) => server.streams.subscribe(uri)));
    for (const uri of uris.slice(3)) server.streams.unsubscribe(uri);
    await settle();
    jest.advanceTimersByTime(250);
    await settle();
    const [remaining] = server.uris;
    expect(server.open).toHaveLength(1);
    expect(remaining!.length).toBeLessThan(10);
    expect(remaining).toEqual(expect.arrayContaining(['a:0', 'a:1', 'a:2']));
  });

  it.each([undefined, new Error('the connection was lost')])(
    'opens a stream again that ended with %p, and reports the gap',
    async (end) => {
      fakeTimeouts();
      const server = new Listener();
      await server.streams.start({ toolsListChanged: true });
      await server.streams.subscribe('a:1');
      server.listens[1]!.end(end);
      await settle();
      expect(server.states).toEqual(['open', 'lost']);
      jest.advanceTimersByTime(500);
      await settle();
      expect(server.states).toEqual(['open', 'lost', 'open']);
      expect(server.listens.at(-1)!.notifications).toEqual({ resourceSubscriptions: ['a:1'] });
      await server.streams.subscribe('a:1');
      expect(server.listens).toHaveLength(3);
    },
  );

  it('does not subscribe a URI again that was unsubscribed while its stream was lost', async () => {
    fakeTimeouts();
    const server = new Listener();
    await Promise.all([server.streams.subscribe('a:1'), server.streams.subscribe('a:2')]);
    server.listens[0]!.end();
    await settle();
    server.streams.unsubscribe('a:1');
    jest.advanceTimersByTime(500);
    await settle();
    expect(server.listens.at(-1)!.notifications.resourceSubscriptions).toEqual(['a:2']);
  });

  it('tries again with growing delays while the server refuses', async () => {
    fakeTimeouts();
    const server = new Listener();
    await server.streams.start({ toolsListChanged: true });
    server.honours = () => undefined;
    server.listens[0]!.end();
    await settle();
    for (const delay of [500, 1000]) {
      jest.advanceTimersByTime(delay);
      await settle();
      server.listens.at(-1)!.end(remote(-32603));
      await settle();
    }
    expect(server.listens).toHaveLength(3);
    expect(server.states).toEqual(['open', 'lost']);
  });

  it('rejects what waits when the link is closed, and opens nothing afterwards', async () => {
    const server = new Listener();
    const subscribed = refusalOf(server.streams.subscribe('a:1'));
    server.streams.stop();
    expect((await subscribed).message).toBe('the link was closed');
    await settle();
    expect(server.listens).toEqual([]);
  });
});
