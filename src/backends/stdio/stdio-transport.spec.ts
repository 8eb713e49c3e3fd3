import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { TransportError, type LinkTransport } from '../link/transport.js';
import type { StdioLimits } from './stdio-server.js';
import { StdioTransport } from './stdio-transport.js';

/** Transports to real child processes. `cat` sends back every message. */
const opened: StdioTransport[] = [];

type Handlers = Pick<LinkTransport, 'onmessage' | 'onerror' | 'onclose'>;

async function open(command: string, args: string[], limits: Partial<StdioLimits> = {}, env = {}) {
  const transport = new StdioTransport(
    { command, args, env },
    { stopGraceMs: 200, killGraceMs: 200, ...limits },
  );
  const texts: string[] = [];
  const events: string[] = [];
  const errors: Error[] = [];
  const handlers: Handlers = {
    onmessage: (_, received) => void texts.push(received?.document?.text ?? ''),
    onerror: (error) => {
      errors.push(error);
      events.push(error instanceof TransportError ? error.fault : error.message);
    },
    onclose: () => void events.push('closed'),
  };
  Object.assign(transport, handlers);
  opened.push(transport);
  await transport.start();
  return { transport, texts, events, errors };
}

async function until(condition: () => boolean, ms = 20_000): Promise<void> {
  const deadline = performance.now() + ms;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within ${ms} ms: ${String(condition)}`);
    await pause(2);
  }
}

const outcome = (sent: Promise<void>) =>
  sent.then(
    () => 'sent',
    (error: TransportError) => error.fault,
  );

const node = (script: string): [string, string[]] => [process.execPath, ['-e', script]];
const notification = (n: number) => `{"jsonrpc":"2.0","method":"n","params":{"n":${n}}}`;

afterEach(() => Promise.all(opened.splice(0).map((transport) => transport.close())));

describe('StdioTransport', () => {
  it('sends and receives messages byte for byte', async () => {
    const { transport, texts } = await open('cat', []);
    const message =
      '{"jsonrpc":"2.0","id":7,"result":{"n":12345678901234567890,"f":1.0,"s":"\\u00e9 é 漢 🏰","new":{}}}';
    await transport.sendText(message);
    await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    await until(() => texts.length === 2);
    expect(texts).toEqual([message, '{"jsonrpc":"2.0","method":"notifications/initialized"}']);
  });

  it('sends pretty-printed JSON as one message', async () => {
    const { transport, texts } = await open('cat', []);
    await transport.sendText('{\n  "jsonrpc": "2.0",\r\n  "method": "m"\n}\n');
    await until(() => texts.length === 1);
    expect(JSON.parse(texts[0] ?? '')).toEqual({ jsonrpc: '2.0', method: 'm' });
    expect(transport.ignoredLines).toBe(0);
  });

  it('keeps the order of 50,000 small messages', async () => {
    const { transport, texts } = await open('cat', []);
    for (let n = 0; n < 50_000; n += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, i) => transport.sendText(notification(n + i))));
    }
    await until(() => texts.length === 50_000);
    expect(texts.every((text, n) => text === notification(n))).toBe(true);
  });

  it('waits for a child that starts reading late', async () => {
    const { transport, texts } = await open('sh', ['-c', 'sleep 0.2; exec cat']);
    const message = `{"jsonrpc":"2.0","method":"${'x'.repeat(100_000)}"}`;
    await Promise.all(Array.from({ length: 20 }, () => transport.sendText(message)));
    await until(() => texts.length === 20);
    expect(texts.every((text) => text === message)).toBe(true);
  });

  it('kills a child that never reads, fails its messages and buffers few of them', async () => {
    const { transport, events } = await open('sleep', ['1000'], { writeTimeoutMs: 200 });
    const message = JSON.stringify({ jsonrpc: '2.0', method: 'x'.repeat(64 * 1024) });
    const before = process.memoryUsage().rss;
    const sent = Array.from({ length: 2_000 }, () => outcome(transport.sendText(message)));
    const outcomes = await Promise.all(sent);
    const grown = process.memoryUsage().rss - before;
    const refused = outcomes.filter((fault) => fault === 'busy').length;
    expect(refused).toBeGreaterThan(1_900);
    expect(outcomes).toContain('broken');
    expect(grown).toBeLessThan(48 * 1024 * 1024);
    await until(() => events.length === 2);
    expect(events).toEqual(['busy', 'closed']);
    expect(transport.exitReason).toBe('did not read its stdin for 200 ms');
    expect(await outcome(transport.sendText('{}'))).toBe('unreachable');
  });

  it('fails messages with the exit code of a child that exits right after it has closed its stdin', async () => {
    const { transport, texts } = await open('sh', [
      '-c',
      `trap 'exit 3' TERM; exec 0<&-; echo '${notification(1)}'; sleep 1000 & wait`,
    ]);
    await until(() => texts.length === 1);
    const sent = transport.sendText(notification(1));
    process.kill(transport.pid!, 'SIGTERM');
    await expect(sent).rejects.toMatchObject({ fault: 'broken', message: 'exited with code 3' });
  });

  it('fails messages to a child that has closed its stdin and continues to run', async () => {
    const { transport, texts } = await open('sh', ['-c', `exec 0<&-; echo '${notification(1)}'; sleep 1000`]);
    await until(() => texts.length === 1);
    await expect(transport.sendText(notification(1))).rejects.toMatchObject({
      fault: 'broken',
      message: 'closed its stdin',
    });
  });

  it('kills a child that writes an endless line, and keeps none of it', async () => {
    const before = process.memoryUsage().rss;
    const { transport, events, errors } = await open('cat', ['/dev/zero']);
    await until(() => events.length === 2);
    expect(events).toEqual(['too-large', 'closed']);
    expect(errors).toMatchObject([{ details: { isUnread: true, hasExited: true } }]);
    expect(transport.exitReason).toBe('line over 8388608 bytes');
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });

  it('yields to the event loop during a flood of invalid lines', async () => {
    const { transport } = await open('yes', ['{"jsonrpc":"2.0"x}']);
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    await until(() => transport.ignoredLines > 20_000);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(3);
  });

  it('reads a flood on stderr and keeps its last lines', async () => {
    const last = 'e'.repeat(4_092) + '399';
    const flood = `require('fs').writeSync(2, 'e'.repeat(4092) + String(i).padStart(3, '0') + '\\n')`;
    const { transport, texts } = await open(
      ...node(
        `process.stdin.on('data', (d) => { for (let i = 0; i < 400; i++) ${flood}; process.stdout.write(d) })`,
      ),
    );
    await transport.sendText(notification(1));
    await until(() => texts.length === 1 && transport.stderrTail().at(-1) === last);
    expect(transport.stderrTail()).toEqual(
      Array.from({ length: 16 }, (_, i) => 'e'.repeat(4_092) + (384 + i)),
    );
  });

  it('counts invalid lines and keeps reading', async () => {
    const { transport, texts, events } = await open('sh', [
      '-c',
      String.raw`echo starting up; printf '\377\376\n'; echo '{"id":1}'; echo '[]'; echo; echo '${notification(1)}'; exec cat`,
    ]);
    await until(() => texts.length === 1);
    expect(transport.ignoredLines).toBe(4);
    expect(events).toHaveLength(3);
    expect(events[0]).toContain('is not JSON-RPC');
  });

  it('passes configured variables to the child, and no secrets of the gateway', async () => {
    process.env['GATEHOUSE_CANARY'] = 'secret';
    const { transport, events } = await open('sh', ['-c', 'env >&2'], {}, { OWN: 'entry' });
    delete process.env['GATEHOUSE_CANARY'];
    await until(() => events.includes('closed'));
    const environment = transport.stderrTail();
    expect(environment).toContain('OWN=entry');
    expect(environment).toContain(`PATH=${process.env['PATH']}`);
    expect(environment.filter((entry) => entry.includes('CANARY'))).toEqual([]);
  });

  it('connects an SDK client to server-everything', async () => {
    const server = createRequire(import.meta.url).resolve(
      '@modelcontextprotocol/server-everything/dist/index.js',
    );
    const transport = new StdioTransport({ command: process.execPath, args: [server, 'stdio'] });
    const client = new Client({ name: 'spec', version: '1' });
    await client.connect(transport);
    expect((await client.listTools()).tools.length).toBeGreaterThan(3);
    const { content } = await client.callTool({ name: 'echo', arguments: { message: 'hello' } });
    expect(content).toEqual([{ type: 'text', text: 'Echo: hello' }]);
    await client.close();
    expect(transport.exitReason).toBe('exited with code 0');
  });
});
