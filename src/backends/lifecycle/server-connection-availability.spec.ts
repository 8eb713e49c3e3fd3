import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeClient } from '../../../test/kit/fake-client.js';
import { FakeLink } from '../../../test/kit/fake-link.js';
import { outcomeOf, refusalOf, flushPromises } from '../../../test/kit/promises.js';
import { recordLog } from '../../../test/kit/log-lines.js';
import { advanceTime, useFakeTime } from '../../../test/kit/fake-time.js';
import { deferred } from '../../../test/kit/until.js';
import { GatewayError, RemoteError } from '../../core/errors.js';
import type { Link } from '../link/link.js';
import { TransportError } from '../link/transport.js';
import { ServerConnection } from './server-connection.js';

const TIMEOUT = new GatewayError('timeout', 'late');
const REMOTE_ERROR = new RemoteError(1, 'no', '{}');

/** A connection whose links are fakes. */
class Harness {
  readonly links: FakeLink[] = [];
  readonly states: string[] = [];
  open: () => Promise<Link> = () => Promise.resolve(new FakeLink());
  readonly connection = new ServerConnection(
    'db',
    async () => {
      const link = await this.open();
      this.links.push(link as FakeLink);
      return link;
    },
    { opened: () => {}, lost: () => {}, stateChanged: () => this.states.push(this.state) },
  );

  static async ready(): Promise<Harness> {
    const harness = new Harness();
    harness.connection.start();
    await flushPromises();
    harness.states.length = 0;
    return harness;
  }

  get link(): FakeLink {
    return this.links.at(-1)!;
  }

  get state(): string {
    return this.connection.status.state;
  }

  get error(): string | undefined {
    return this.connection.unavailableError()?.message;
  }

  /** Sends one request after the other and ends each with its outcome. */
  async request(...outcomes: readonly (Error | 'answered')[]): Promise<void> {
    for (const outcome of outcomes) {
      const result = this.connection.request({ method: 'tools/call', timeoutMs: 1000 });
      result.catch(() => {});
      const asked = this.link.asked('tools/call');
      if (outcome === 'answered') asked.answer({});
      else asked.fail(outcome);
      await flushPromises();
    }
  }
}

useFakeTime();

describe('ServerConnection.unavailableError', () => {
  it('is undefined while the link is open and the server answers', async () => {
    const harness = await Harness.ready();
    await harness.request('answered');
    expect(harness.error).toBeUndefined();
  });

  it('names the reason of the last failure, or else the state', async () => {
    const harness = new Harness();
    harness.open = () => new Promise(() => {});
    harness.connection.start();
    expect(harness.error).toBe('SERVER_UNAVAILABLE: server db is not available: it is starting');
    const cause = new Error('no route');
    const failing = new Harness();
    failing.open = () => Promise.reject(cause);
    failing.connection.start();
    await flushPromises();
    expect(failing.error).toBe('SERVER_UNAVAILABLE: server db is not available: it cannot be reached');
    expect(failing.connection.unavailableError()?.cause).toBe(cause);
  });

  it('is undefined while a link is opened after an expired session', async () => {
    const harness = await Harness.ready();
    harness.open = () => new Promise(() => {});
    harness.link.disconnect(new TransportError('session-expired', 'unknown session'));
    await flushPromises();
    expect([harness.state, harness.error]).toEqual(['connecting', undefined]);
  });

  it('names the cause as soon as the link is lost, while the link is still being closed', async () => {
    const harness = await Harness.ready();
    harness.link.close = () => new Promise(() => {});
    harness.link.disconnect(new TransportError('broken', 'exited with code 1', { hasExited: true }));
    await flushPromises();
    expect(harness.error).toMatch(/its process has ended$/);
  });
});

describe('ServerConnection to a server that does not answer', () => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await Harness.ready();
  });

  /** Three requests and a probe are not answered. */
  async function becomeUnresponsive(): Promise<void> {
    await harness.request(TIMEOUT, TIMEOUT, TIMEOUT);
    harness.link.asked('ping').fail(TIMEOUT);
    await flushPromises();
  }

  it('is unresponsive after three timeouts and an unanswered probe, ready after the next answer, and logs both', async () => {
    const lines = recordLog();
    const late = [1, 2].map(() => harness.connection.request({ method: 'late', timeoutMs: 1000 }));
    const [first, second] = [...harness.link.inFlight];
    await harness.request(TIMEOUT, TIMEOUT, TIMEOUT);
    expect([harness.state, harness.error]).toEqual(['ready', undefined]);
    harness.link.asked('ping').fail(TIMEOUT);
    await flushPromises();
    expect([harness.error, harness.states]).toEqual([
      expect.stringMatching(/it does not answer$/),
      ['unresponsive'],
    ]);
    first!.fail(TIMEOUT);
    await expect(late[0]).rejects.toBe(TIMEOUT);
    second!.answer({});
    await late[1];
    expect([harness.error, harness.states]).toEqual([undefined, ['unresponsive', 'ready']]);
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
      'server does not answer',
      'server answers again',
    ]);
  });

  it.each<[string, (link: FakeLink) => void]>([
    ['another request', (link) => link.asked('other').answer({})],
    ['another request, with an error', (link) => link.asked('other').fail(REMOTE_ERROR)],
    ['no request, with a notification', (link) => link.emit('notifications/message')],
  ])('stays ready, and sends no probe, when the server answers %s meanwhile', async (_whom, answer) => {
    const [, ...slow] = ['other', 'slow', 'slow', 'slow', 'slow'].map((method) =>
      outcomeOf(harness.connection.request({ method, timeoutMs: 1000 })),
    );
    answer(harness.link);
    for (const pending of harness.link.inFlight) if (pending.method === 'slow') pending.fail(TIMEOUT);
    await flushPromises();
    expect(slow.map(({ error }) => error)).toEqual([TIMEOUT, TIMEOUT, TIMEOUT, TIMEOUT]);
    expect([harness.states, harness.link.count('ping')]).toEqual([[], 0]);
  });

  it('stays ready when only the probe is answered', async () => {
    await harness.request(TIMEOUT, TIMEOUT, TIMEOUT);
    harness.link.asked('ping').answer({});
    await flushPromises();
    await harness.request(TIMEOUT, TIMEOUT);
    expect([harness.states, harness.error]).toEqual([[], undefined]);
    expect(harness.connection.status.timeouts).toBe(2);
  });

  it.each<[string, Error]>([
    ['an error of the server, which is an answer', REMOTE_ERROR],
    ['a cancellation, which says nothing about the server', new GatewayError('cancelled', 'x')],
  ])('stays ready after two timeouts and %s', async (_what, error) => {
    await harness.request(TIMEOUT, TIMEOUT, error, error, error);
    expect(harness.error).toBeUndefined();
  });

  it('stays ready when the server answers between timeouts', async () => {
    await harness.request(TIMEOUT, TIMEOUT, 'answered', TIMEOUT, TIMEOUT);
    expect([harness.state, harness.states]).toEqual(['ready', []]);
  });

  it('probes within the timeout of the request, and every second until a probe is answered', async () => {
    await becomeUnresponsive();
    const ping = harness.link.requests.find(({ method }) => method === 'ping');
    expect(ping?.timeoutMs).toBe(1000);
    await advanceTime(1000);
    harness.link.asked('ping').fail(TIMEOUT);
    await advanceTime(999);
    expect(harness.link.count('ping')).toBe(2);
    await advanceTime(1);
    harness.link.asked('ping').answer({});
    await flushPromises();
    expect(harness.states).toEqual(['unresponsive', 'ready']);
    await advanceTime(60_000);
    expect(harness.link.count('ping')).toBe(3);
    await harness.request(TIMEOUT, TIMEOUT);
    expect(harness.state).toBe('ready');
  });

  it('is ready after a notification, without another probe', async () => {
    await becomeUnresponsive();
    harness.link.emit('notifications/message');
    await advanceTime(1000);
    expect([harness.states, harness.link.count('ping')]).toEqual([['unresponsive', 'ready'], 1]);
  });

  it('stops probing when a request is answered after all', async () => {
    const result = harness.connection.request({ method: 'late', timeoutMs: 1000 });
    const late = harness.link.asked('late');
    await becomeUnresponsive();
    late.answer({});
    await result;
    expect(harness.state).toBe('ready');
    await advanceTime(60_000);
    expect(harness.link.count('ping')).toBe(1);
  });

  it('sends one probe at a time when the server becomes unresponsive again', async () => {
    const result = harness.connection.request({ method: 'late', timeoutMs: 1000 });
    const late = harness.link.asked('late');
    await becomeUnresponsive();
    await advanceTime(1000);
    const ping = harness.link.asked('ping');
    late.answer({});
    await result;
    await harness.request(TIMEOUT, TIMEOUT, TIMEOUT);
    ping.fail(TIMEOUT);
    await flushPromises();
    await advanceTime(10_000);
    expect(harness.link.inFlight.size).toBe(1);
  });

  it('starts counting anew over the next link, and does not log that the server answers', async () => {
    const lines = recordLog();
    const lost = harness.link;
    await becomeUnresponsive();
    lost.disconnect();
    await advanceTime(500);
    expect(harness.states).toEqual(['unresponsive', 'retrying', 'connecting', 'ready']);
    expect(lines.join()).not.toContain('answers again');
    await advanceTime(60_000);
    expect(lost.count('ping')).toBe(1);
    await harness.request(TIMEOUT, TIMEOUT);
    expect(harness.state).toBe('ready');
  });

  it('ignores a timeout over a link that was replaced', async () => {
    const outcomes = [1, 2, 3].map(() =>
      outcomeOf(harness.connection.request({ method: 'tools/call', timeoutMs: 1000 })),
    );
    const old = [...harness.link.inFlight];
    harness.link.disconnect = () => {};
    harness.connection.reconnect();
    await flushPromises();
    for (const asked of old) asked.fail(TIMEOUT);
    await flushPromises();
    expect(outcomes.map(({ error }) => error)).toEqual([TIMEOUT, TIMEOUT, TIMEOUT]);
    expect(harness.states).not.toContain('unresponsive');
  });
});

describe('ServerConnection.request', () => {
  it('waits for the next link while the session is renewed, unless the caller cancels', async () => {
    const harness = await Harness.ready();
    const next = deferred<Link>();
    harness.open = () => next.promise;
    harness.link.disconnect(new TransportError('session-expired', 'unknown session'));
    await flushPromises();
    const caller = new FakeClient('a').call();
    const cancelled = refusalOf(
      harness.connection.request({ method: 'tools/call', timeoutMs: 1000, caller }),
    );
    const result = harness.connection.request({ method: 'tools/call', timeoutMs: 1000 });
    caller.cancel();
    expect(await cancelled).toMatchObject({ kind: 'cancelled' });
    next.resolve(new FakeLink());
    await flushPromises();
    harness.link.asked('tools/call').answer({ n: 1 });
    expect((await result).text).toBe('{"n":1}');
  });

  it('waits for the next link until the deadline of the request', async () => {
    const harness = await Harness.ready();
    harness.open = () => new Promise(() => {});
    harness.link.disconnect(new TransportError('session-expired', 'unknown session'));
    await flushPromises();
    const outcome = outcomeOf(
      harness.connection.request({ method: 'x', timeoutMs: 1000, deadline: performance.now() + 300 }),
    );
    await advanceTime(299);
    expect(outcome).toEqual({});
    await advanceTime(1);
    expect(outcome.error).toMatchObject({ kind: 'timeout' });
  });
});
