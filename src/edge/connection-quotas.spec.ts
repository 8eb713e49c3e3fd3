import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { hash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { authSettings } from '../../test/kit/auth.js';
import { onCleanup } from '../../test/kit/cleanup.js';
import { EdgeHarness } from '../../test/kit/edge-harness.js';
import { exchange } from '../../test/kit/http.js';
import { RawSession } from '../../test/kit/raw-session.js';
import { until, within } from '../../test/kit/until.js';
import type { HttpSettings } from '../config/http-settings.js';
import type { Limits } from '../config/limits.js';
import { MAX_ALL_PIPELINED, MAX_PIPELINED } from './request-admission.js';

const KEYS = ['a', 'b'];
const AUTH = authSettings({
  apiKeys: KEYS.map((id) => ({ id, hash: `sha256:${hash('sha256', id)}`, projects: ['*'] })),
});

async function listening(
  limits: Partial<Limits>,
  http: Partial<HttpSettings> = {},
  auth?: typeof AUTH,
): Promise<EdgeHarness> {
  const harness = new EdgeHarness(limits, http, auth);
  await harness.listen();
  onCleanup(() => harness.close());
  return harness;
}

/** An open connection, and everything that it receives. */
class Connection {
  received = '';

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('utf8').on('data', (text: string) => (this.received += text));
    socket.on('error', () => {});
    onCleanup(() => socket.destroy());
  }

  static async open({ url }: EdgeHarness): Promise<Connection> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await within('a connection', once(socket, 'connect'));
    return new Connection(socket);
  }

  /** Sends a ping without a session, which is refused with HTTP 400 after the guards, and returns the status. */
  async status(headers: Record<string, string> = {}): Promise<string> {
    const from = this.received.length;
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const lines = Object.entries({
      host: 'localhost',
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'content-length': String(body.length),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    this.socket.write(`POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
    const text = await until('an answer', () => /^HTTP\/1.1 (\d+)/.exec(this.received.slice(from)));
    return text[1]!;
  }

  send(text: string): void {
    this.socket.write(text);
  }

  async sendUntilClosed(text: string): Promise<void> {
    this.socket.write(text);
    await within('the end of the connection', once(this.socket, 'close'));
  }

  async end(): Promise<void> {
    this.socket.destroy();
    if (!this.socket.closed) await once(this.socket, 'close');
  }
}

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
const forwardedFor = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });

const refusals = async ({ metrics }: EdgeHarness, limit: string): Promise<string | undefined> =>
  new RegExp(`^gatehouse_limit_refusals_total\\{limit="${limit}"\\} (\\d+)$`, 'm').exec(
    await metrics.text(),
  )?.[1];

describe('The connections of one principal', () => {
  it('are limited by remote address before the first request', async () => {
    const harness = await listening({ connectionsPerPrincipal: 2 });
    const first = await Connection.open(harness);
    await Connection.open(harness);
    const refused = await Connection.open(harness);
    await until('the refusal', () => refused.received !== '');
    expect(refused.received).toMatch(/^HTTP\/1.1 429 Too Many Requests\r\nretry-after: 1\r\n/);
    expect(await refusals(harness, 'connectionsPerPrincipal')).toBe('1');
    await first.end();
    await until('the place is free', () => harness.quotas.count('connections address 127.0.0.1') === 1);
    expect(await (await Connection.open(harness)).status()).toBe('400');
  });

  it('are limited by key after it was verified', async () => {
    const harness = await listening({ connectionsPerPrincipal: 2 }, {}, AUTH);
    const statuses: string[] = [];
    for (const key of ['a', 'a', 'b', 'a'])
      statuses.push(await (await Connection.open(harness)).status(bearer(key)));
    expect(statuses).toEqual(['400', '400', '400', '429']);
    const counts = (): number[] =>
      ['key:a', 'key:b', 'address 127.0.0.1'].map((key) => harness.quotas.count(`connections ${key}`));
    await until('the refused connection is closed', () => counts()[2] === 0);
    expect(counts()).toEqual([2, 1, 0]);
  });

  it('are closed when a client sends many requests without waiting for responses', async () => {
    const harness = await listening({});
    const flooding = await Connection.open(harness);
    await flooding.sendUntilClosed('GET /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(MAX_PIPELINED + 50));
    expect(await refusals(harness, 'pipelinedPerConnection')).toBe('1');
    expect(await (await Connection.open(harness)).status()).toBe('400');
  });

  it('are closed when they pipeline while many requests do so on other connections', async () => {
    const harness = await listening({});
    let hanging = 0;
    harness.handlers.set('hang', () => new Promise(() => hanging++));
    const { id: session } = await RawSession.open(harness.url);
    const hang = (id: number): string => {
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'hang' });
      return (
        `POST /mcp HTTP/1.1\r\nhost: localhost\r\nmcp-session-id: ${session}\r\ncontent-length: ${body.length}\r\n` +
        `accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\r\n${body}`
      );
    };
    const ping = 'GET /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n';
    const full = MAX_ALL_PIPELINED / MAX_PIPELINED;
    for (let n = 0; n < full; n++)
      (await Connection.open(harness)).send(hang(100 + n) + ping.repeat(MAX_PIPELINED));
    await until('all calls run', () => hanging === full);
    const last = await Connection.open(harness);
    await last.sendUntilClosed(hang(99) + ping);
    expect(await refusals(harness, 'pipelined')).toBe('1');
    expect(await refusals(harness, 'pipelinedPerConnection')).toBe('0');
    expect(await (await Connection.open(harness)).status()).toBe('400');
  });

  it('are those of its latest request, where a proxy shares connections', async () => {
    const harness = await listening({ connectionsPerPrincipal: 1 }, { trustedProxies: ['127.0.0.1'] });
    const shared = await Connection.open(harness);
    const other = await Connection.open(harness);
    expect(await shared.status(forwardedFor('192.0.2.1'))).toBe('400');
    expect(await shared.status(forwardedFor('192.0.2.2'))).toBe('400');
    expect(await other.status(forwardedFor('192.0.2.1'))).toBe('400');
    expect(await other.status(forwardedFor('192.0.2.2'))).toBe('429');
    await shared.end();
    await until('no connection counts', () => harness.quotas.count('connections address 192.0.2.2') === 0);
  });
});

describe('The sessions of anonymous clients', () => {
  it('are counted by the address that a trusted proxy names', async () => {
    const { url } = await listening({ sessionsPerPrincipal: 1 }, { trustedProxies: ['127.0.0.0/8'] });
    const open = (address: string): Promise<RawSession> =>
      RawSession.open(url, { headers: forwardedFor(address) });
    await open('192.0.2.1');
    await open('192.0.2.2');
    await expect(open('192.0.2.1')).rejects.toThrow('-31029');
  });

  it('are counted by the remote address without a trusted proxy', async () => {
    const { url } = await listening({ sessionsPerPrincipal: 1 });
    await RawSession.open(url, { headers: forwardedFor('192.0.2.1') });
    await expect(RawSession.open(url, { headers: forwardedFor('192.0.2.2') })).rejects.toThrow('-31029');
  });
});

describe('The event streams of one principal', () => {
  it('are limited, and those of one session count once', async () => {
    const harness = await listening({ streamsPerPrincipal: 1 });
    const [first, second] = [await RawSession.open(harness.url), await RawSession.open(harness.url)];
    const stream = await first.listen();
    const another = await first.listen();
    expect(stream.hasEnded).toBe(false);
    const refused = await exchange(harness.url, {
      headers: { accept: 'text/event-stream', 'mcp-session-id': second.id },
    });
    expect([refused.status, JSON.parse(refused.text)]).toMatchObject([
      429,
      { error: { code: -31029, data: { code: 'LimitExceeded', limit: 1 } } },
    ]);
    expect(await refusals(harness, 'streamsPerPrincipal')).toBe('1');
    stream.disconnect();
    another.disconnect();
    await until('the place is free', () => harness.quotas.count('streams address 127.0.0.1') === 0);
    await second.listen();
  });
});
