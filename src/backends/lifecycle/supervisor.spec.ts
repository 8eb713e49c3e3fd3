import { describe, expect, it, jest } from '@jest/globals';
import { FakeLink, outcomeOf, refusalOf, settled } from '../../../test/kit/fake-link.js';
import { pass, stillTime } from '../../../test/kit/still-time.js';
import { deferred } from '../../../test/kit/until.js';
import type { Link } from '../link/link.js';
import { Supervisor } from './supervisor.js';
import { TransportError } from '../link/transport.js';

/** A server that the spec lets come up, or not. */
class Server {
  readonly links: FakeLink[] = [];
  readonly lost: { link: Link; reason: Error }[] = [];
  readonly used: Link[] = [];
  attempts = 0;
  signal: AbortSignal | undefined;
  /** What comes of an attempt to connect. */
  connect: () => Promise<FakeLink> = () => Promise.resolve(new FakeLink());
  readonly supervisor = new Supervisor(
    'db',
    async (signal) => {
      this.attempts++;
      this.signal = signal;
      const link = await this.connect();
      this.links.push(link);
      return link;
    },
    (link) => this.used.push(link),
    (link, reason) => this.lost.push({ link, reason }),
  );

  static async ready(): Promise<Server> {
    const server = new Server();
    server.supervisor.start();
    await settled();
    return server;
  }

  /** It has refused five times, and refuses on. */
  static async inCrashLoop(): Promise<Server> {
    const server = new Server();
    server.refuse();
    server.supervisor.start();
    for (const pauseMs of [0, 500, 1000, 2000, 4000]) await pass(pauseMs);
    return server;
  }

  get link(): FakeLink {
    return this.links.at(-1)!;
  }

  get state(): string {
    return this.supervisor.state;
  }

  refuse(reason: Error = new Error('refused')): void {
    this.connect = () => Promise.reject(reason);
  }

  accept(): void {
    this.connect = () => Promise.resolve(new FakeLink());
  }
}

const sessionLost = (): TransportError => new TransportError('session-lost', 'the session is lost');

stillTime();

describe('a supervisor', () => {
  it('is stopped until it is started, and then connects', async () => {
    const server = new Server();
    expect(server.state).toBe('stopped');
    server.supervisor.start();
    expect(server.state).toBe('connecting');
    await settled();
    expect(server.state).toBe('ready');
    expect(server.supervisor.link).toBe(server.link);
    expect(server.used).toEqual([server.link]);
    expect(server.supervisor.restarts).toBe(0);
  });

  it('started twice connects once', async () => {
    const server = await Server.ready();
    server.supervisor.start();
    await settled();
    expect(server.attempts).toBe(1);
  });

  it('tells of a lost link with the link itself, closes it, and connects again after a pause', async () => {
    const server = await Server.ready();
    const { link } = server;
    const reason = new Error('it crashed');
    link.lose(reason);
    await settled();
    expect(server.supervisor.link).toBeUndefined();
    expect(server.lost).toEqual([{ link, reason }]);
    expect(link.closes).toBe(1);
    expect(server.state).toBe('retrying');
    expect(server.supervisor.reason).toBe(reason);
    await pass(499);
    expect(server.attempts).toBe(1);
    await pass(1);
    expect(server.state).toBe('ready');
    expect(server.supervisor.restarts).toBe(1);
    expect(server.supervisor.reason).toBeUndefined();
  });

  it('pauses twice as long after every attempt that failed', async () => {
    const server = new Server();
    server.refuse();
    server.supervisor.start();
    await settled();
    for (const pauseMs of [500, 1000, 2000]) {
      const { attempts } = server;
      await pass(pauseMs - 1);
      expect(server.attempts).toBe(attempts);
      await pass(1);
      expect(server.attempts).toBe(attempts + 1);
    }
    expect(server.state).toBe('retrying');
  });

  it('says while it connects again what was wrong before', async () => {
    const server = new Server();
    server.refuse(new Error('no route'));
    server.supervisor.start();
    await settled();
    server.connect = () => new Promise(() => {});
    await pass(500);
    expect(server.state).toBe('connecting');
    expect(server.supervisor.reason?.message).toBe('no route');
  });

  it('starts with short pauses again after a link that lived long enough', async () => {
    const server = await Server.ready();
    server.link.lose();
    await pass(500);
    server.link.lose();
    await pass(1000);
    expect(server.state).toBe('ready');
    await pass(10_001);
    server.link.lose();
    await pass(500);
    expect(server.state).toBe('ready');
  });

  it('is in a crash loop after five ends within a minute', async () => {
    const server = await Server.inCrashLoop();
    expect(server.state).toBe('crash-loop');
    expect(server.attempts).toBe(5);
  });

  it('tries every 30 seconds in a crash loop, for as long as the server fails', async () => {
    const server = await Server.inCrashLoop();
    for (let attempts = 5; attempts < 40; attempts++) {
      await pass(29_999);
      expect(server.attempts).toBe(attempts);
      await pass(1);
      expect([server.attempts, server.state]).toEqual([attempts + 1, 'crash-loop']);
    }
  });

  it('stays in a crash loop when the server comes up and ends before it has held', async () => {
    const server = await Server.inCrashLoop();
    server.accept();
    for (let n = 0; n < 5; n++) {
      await pass(30_000);
      expect(server.state).toBe('ready');
      await pass(10_000);
      server.link.lose();
      await settled();
      expect(server.state).toBe('crash-loop');
    }
  });

  it('is out of a crash loop once a link has held', async () => {
    const server = await Server.inCrashLoop();
    server.accept();
    await pass(30_000);
    expect(server.state).toBe('ready');
    await pass(10_001);
    server.link.lose();
    await settled();
    expect(server.state).toBe('retrying');
    await pass(500);
    expect(server.state).toBe('ready');
  });
});

describe('a supervisor that is asked to reconnect', () => {
  it('replaces the link there is, at once', async () => {
    const server = await Server.ready();
    const [first] = server.links;
    server.supervisor.reconnect();
    await settled();
    expect(first!.closes).toBeGreaterThan(0);
    expect(server.links).toHaveLength(2);
    expect(server.state).toBe('ready');
  });

  it('does not take that for a crash, however often it happens', async () => {
    const server = await Server.ready();
    for (let n = 0; n < 100; n++) {
      server.supervisor.reconnect();
      await settled();
    }
    expect(server.state).toBe('ready');
    expect(server.supervisor.restarts).toBe(100);
    expect(server.links.filter((link) => link.closes === 0)).toEqual([server.link]);
  });

  it('ends the pause there is', async () => {
    const server = await Server.inCrashLoop();
    server.accept();
    server.supervisor.reconnect();
    await settled();
    expect(server.state).toBe('ready');
  });

  it('forgets the crash loop it was in: somebody has seen to the server', async () => {
    const server = await Server.inCrashLoop();
    server.supervisor.reconnect();
    await settled();
    expect([server.attempts, server.state]).toEqual([6, 'retrying']);
    for (const pauseMs of [500, 1000, 2000, 4000]) await pass(pauseMs);
    expect([server.attempts, server.state]).toEqual([10, 'crash-loop']);
  });

  it('pauses as before when that fails, too', async () => {
    const server = new Server();
    server.refuse();
    server.supervisor.start();
    await settled();
    server.supervisor.reconnect();
    await settled();
    expect(server.attempts).toBe(2);
    expect(server.state).toBe('retrying');
  });
});

describe('a supervisor that is stopped', () => {
  it('while it is linked closes the link', async () => {
    const server = await Server.ready();
    await server.supervisor.stop();
    expect(server.link.closes).toBeGreaterThan(0);
    expect(server.state).toBe('stopped');
    expect(server.lost).toHaveLength(1);
    await pass(60_000);
    expect(server.attempts).toBe(1);
  });

  it('while it pauses does not wait for the end of the pause', async () => {
    const server = new Server();
    server.refuse();
    server.supervisor.start();
    await settled();
    await server.supervisor.stop();
    expect(server.state).toBe('stopped');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('while it connects gives the attempt up', async () => {
    const server = new Server();
    server.connect = () =>
      new Promise((_resolve, reject) => {
        server.signal?.addEventListener('abort', () => reject(new Error('given up')));
      });
    server.supervisor.start();
    await settled();
    await server.supervisor.stop();
    expect(server.state).toBe('stopped');
  });

  it('while it connects never uses a link that comes all the same', async () => {
    const server = new Server();
    const arrival = deferred<FakeLink>();
    server.connect = () => arrival.promise;
    server.supervisor.start();
    await settled();
    const stopping = server.supervisor.stop();
    arrival.resolve(new FakeLink());
    await stopping;
    expect(server.used).toEqual([]);
    expect(server.link.closes).toBe(1);
    expect(server.state).toBe('stopped');
  });

  it('before it was started stays stopped', async () => {
    const server = new Server();
    await server.supervisor.stop();
    server.supervisor.start();
    await settled();
    expect(server.attempts).toBe(0);
    expect(server.state).toBe('stopped');
  });
});

describe('the replacement of a link', () => {
  it('is there as soon as the server has greeted us again, without a pause', async () => {
    const server = await Server.ready();
    const lost = server.link;
    const waiting = [server.supervisor.replacement(lost), server.supervisor.replacement(lost)];
    lost.lose(sessionLost());
    const [first, second] = await Promise.all(waiting);
    expect(first).toBe(server.link);
    expect(second).toBe(first);
    expect(first).not.toBe(lost);
    expect(server.attempts).toBe(2);
  });

  it('can be asked for while the lost link is still being closed', async () => {
    const server = await Server.ready();
    const lost = server.link;
    const closed = deferred();
    lost.close = () => closed.promise;
    lost.lose(sessionLost());
    await settled();
    const replacement = server.supervisor.replacement(lost);
    closed.resolve();
    expect(await replacement).toBe(server.link);
    expect(server.links).toHaveLength(2);
  });

  it('is the link there is when the lost one was replaced already', async () => {
    const server = await Server.ready();
    const lost = server.link;
    lost.lose(sessionLost());
    await settled();
    await expect(server.supervisor.replacement(lost)).resolves.toBe(server.link);
  });

  it('is refused when the next attempt fails', async () => {
    const server = await Server.ready();
    const lost = server.link;
    server.refuse(new Error('not yet'));
    lost.lose(sessionLost());
    const refusal = await refusalOf(server.supervisor.replacement(lost));
    expect(refusal.message).toBe('not yet');
  });

  it('is refused during a pause, which nobody waits for', async () => {
    const server = await Server.ready();
    const lost = server.link;
    lost.lose(new Error('crashed'));
    await settled();
    expect((await refusalOf(server.supervisor.replacement(lost))).message).toBe('crashed');
  });

  it('is refused when the session is lost again and again', async () => {
    const server = await Server.ready();
    for (let n = 0; n < 4; n++) {
      server.link.lose(sessionLost());
      await settled();
    }
    expect(server.state).toBe('ready');
    const outcome = outcomeOf(server.supervisor.replacement(server.link));
    server.link.lose(sessionLost());
    await settled();
    expect(server.state).toBe('crash-loop');
    expect(outcome.error).toMatchObject({ fault: 'session-lost' });
  });

  it('is refused when the supervisor stops, or has stopped', async () => {
    const server = await Server.ready();
    const lost = server.link;
    server.connect = () =>
      new Promise((_resolve, reject) => {
        server.signal?.addEventListener('abort', () => reject(new Error('given up')));
      });
    const before = refusalOf(server.supervisor.replacement(lost));
    lost.lose(sessionLost());
    await settled();
    await server.supervisor.stop();
    expect((await before).message).toBe('it is being stopped');
    expect(await refusalOf(server.supervisor.replacement(lost))).toBeInstanceOf(Error);
  });
});
