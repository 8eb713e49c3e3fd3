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

  it('names the cause of the last failure, or else the state', async () => {
    const harness = new Harness();
    harness.open = () => new Promise(() => {});
    harness.connection.start();
    expect(harness.error).toBe('SERVER_UNAVAILABLE: server db is not available: connecting');
    const cause = new Error('no route');
    const failing = new Harness();
    failing.open = () => Promise.reject(cause);
    failing.connection.start();
    await flushPromises();
    expect(failing.error).toBe('SERVER_UNAVAILABLE: server db is not available: no route');
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
    harness.link.disconnect(new Error('exited with code 1'));
    await flushPromises();
    expect(harness.error).toMatch(/exited with code 1$/);
  });
});

describe('ServerConnection to a server that does not answer', () => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await Harness.ready();
  });

  it('is unresponsive after three timeouts in a row and ready after the next answer, and logs both', async () => {
    const lines = recordLog();
    await harness.request(TIMEOUT, TIMEOUT);
    expect(harness.state).toBe('ready');
    const late = [1, 2].map(() => harness.connection.request({ method: 'late', timeoutMs: 1000 }));
    const [first, second] = [...harness.link.inFlight];
    await harness.request(TIMEOUT);
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

  it('pings every second until a ping is answered', async () => {
    await harness.request(TIMEOUT, TIMEOUT, TIMEOUT);
    await advanceTime(1000);
    harness.link.asked('ping').fail(TIMEOUT);
    await advanceTime(1000);
    expect(harness.link.count('ping')).toBe(2);
    harness.link.asked('ping').answer({});
    await flushPromises();
    expect(harness.states).toEqual(['unresponsive', 'ready']);
    await advanceTime(60_000);
    expect(harness.link.count('ping')).toBe(2);
    await harness.request(TIMEOUT, TIMEOUT);
    expect(harness.state).toBe('ready');
  });

  it('stops pinging when a request is answered after all', async () => {
    const result = harness.connection.request({ method: 'late', timeoutMs: 1000 });
    const late = harness.link.asked('late');
    await harness.request(TIMEOUT, TIMEOUT, TIMEOUT);
    late.answer({});
    await result;
    expect(harness.state).toBe('ready');
    await advanceTime(60_000);
    expect(harness.link.count('ping')).toBe(0);
  });

  it('sends one ping at a time when the server becomes unresponsive again', async () => {
    const result = harness.connection.request({ method: 'late', timeoutMs: 1000 });
    const late = harness.link.asked('late');
    await harness.request(TIMEOUT, TIMEOUT, TIMEOUT);
    await advanceTime(1000);
    const ping = harness.link.asked('ping');
    late.answer({});
    await result;
    await harness.request(TIMEOUT, TIMEOUT, TIMEOUT);
    ping.fail(TIMEOUT);
    await flushPromises();
    await advanceTime(1000);
    expect(harness.link.inFlight.size).toBe(1);
  });

  it('starts counting anew over the next link, and does not log that the server answers', async () => {
    const lines = recordLog();
    const lost = harness.link;
    await harness.request(TIMEOUT, TIMEOUT, TIMEOUT);
    lost.disconnect();
    await advanceTime(500);
    expect(harness.states).toEqual(['unresponsive', 'retrying', 'connecting', 'ready']);
    expect(lines.join()).not.toContain('answers again');
    await advanceTime(60_000);
    expect(lost.count('ping')).toBe(0);
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
});
