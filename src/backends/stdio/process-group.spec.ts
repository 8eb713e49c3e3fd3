import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { TransportError, type LinkTransport } from '../link/transport.js';
import { killAllProcessGroups, liveGroups } from './process-group.js';
import type { StdioLimits, StdioServer } from './stdio-server.js';
import { StdioTransport } from './stdio-transport.js';

/** How children come and go, told with real ones through the transport that owns their group. */
const opened: StdioTransport[] = [];
const daemons: number[] = [];

type Handlers = Pick<LinkTransport, 'onmessage' | 'onerror' | 'onclose'>;

function transportTo(server: StdioServer, limits: Partial<StdioLimits> = {}) {
  const transport = new StdioTransport(server, { stopGraceMs: 50, killGraceMs: 100, ...limits });
  const events: string[] = [];
  const handlers: Handlers = {
    onmessage: () => void events.push('message'),
    onerror: (error) => void events.push(error instanceof TransportError ? error.fault : error.message),
    onclose: () => void events.push('closed'),
  };
  Object.assign(transport, handlers);
  opened.push(transport);
  return { transport, events };
}

async function sh(script: string, limits: Partial<StdioLimits> = {}) {
  const opening = transportTo({ command: 'sh', args: ['-c', script] }, limits);
  await opening.transport.start();
  return opening;
}

async function until(condition: () => boolean, ms = 5_000): Promise<void> {
  const deadline = performance.now() + ms;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within ${ms} ms: ${String(condition)}`);
    await pause(2);
  }
}

/** A zombie is dead: when it goes from the table is up to whoever adopted it. */
function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && process.platform !== 'linux';
  }
}

/** The process number that the child wrote to stderr. */
async function grandchildOf(transport: StdioTransport): Promise<number> {
  await until(() => transport.stderrTail().length > 0);
  return Number(transport.stderrTail()[0]);
}

/** Leaves the group of its parent, and then tells its process number. */
const daemonized = `setsid sh -c 'echo $$ >&2; exec sleep 1000'`;

const outcome = (sent: Promise<void>) =>
  sent.then(
    () => 'sent',
    (error: TransportError) => error.fault,
  );

const handles = () => process.getActiveResourcesInfo().filter((kind) => /Process|Pipe/.test(kind)).length;

afterEach(async () => {
  for (const daemon of daemons.splice(0)) process.kill(daemon, 'SIGKILL');
  await Promise.all(opened.splice(0).map((transport) => transport.close()));
});

describe('a child process', () => {
  it.each<[string, StdioServer, RegExp]>([
    [
      'the command is missing',
      { command: 'no-such-command' },
      /"no-such-command": command not found on the PATH/,
    ],
    ['the file is missing', { command: '/no/such/file' }, /"\/no\/such\/file": no such file/],
    ['it is no program', { command: '/etc/passwd' }, /no permission to execute it \(EACCES\)/],
    [
      'the directory is missing',
      { command: 'cat', cwd: '/no/such/dir' },
      /"cat": working directory \/no\/such\/dir/,
    ],
    ['the directory is a file', { command: 'cat', cwd: '/etc/passwd' }, /\/etc\/passwd is not a directory/],
    ['an argument cannot be passed', { command: 'cat', args: ['\0'] }, /"cat": .*null bytes/],
  ])('is reported as unreachable when %s', async (_, server, message) => {
    const { transport, events } = transportTo(server);
    await expect(transport.start()).rejects.toMatchObject({
      fault: 'unreachable',
      message: expect.stringMatching(message),
    });
    await expect(transport.sendText('{}')).rejects.toMatchObject({ fault: 'unreachable' });
    await transport.close();
    expect(events).toEqual([]);
  });

  it.each([
    ['exit 3', 'exited with code 3'],
    ['kill -KILL $$', 'killed by SIGKILL'],
  ])('says its last words before it is gone: %s', async (end, reason) => {
    const { transport, events } = await sh(
      `for i in 1 2 3; do echo '{"jsonrpc":"2.0","id":1}'; done; ${end}`,
    );
    await until(() => events.includes('closed'));
    expect(events).toEqual(['message', 'message', 'message', 'broken', 'closed']);
    expect(transport.exitReason).toBe(reason);
  });

  it('says all of them, even to a slow listener', async () => {
    const { transport, events } = await sh(`yes '{"jsonrpc":"2.0","id":1}' | head -n 6000`);
    const slow = () => {
      const ms = events.push('message') % 500 === 1 ? 10 : 0;
      for (const end = performance.now() + ms; performance.now() < end;);
    };
    Object.assign(transport, { onmessage: slow });
    await until(() => events.includes('closed'));
    expect(events).toHaveLength(6_002);
    expect(events.slice(-2)).toEqual(['broken', 'closed']);
  });

  it('takes its grandchildren along when it is closed', async () => {
    const { transport, events } = await sh('sleep 1000 & echo $! >&2; wait');
    const pids = [transport.pid ?? 0, await grandchildOf(transport)];
    expect(pids.every(alive)).toBe(true);
    await transport.close();
    expect(pids.filter(alive)).toEqual([]);
    expect(transport.pid).toBeUndefined();
    expect(events).toEqual(['closed']);
    expect(transport.exitReason).toBe('killed by SIGTERM');
  });

  it('takes its grandchildren along when it crashes, even those that hold its pipes and ignore SIGTERM', async () => {
    const { transport, events } = await sh(
      `sh -c 'trap "" TERM; echo $$ >&2; while :; do sleep 1; done' & wait`,
    );
    const grandchild = await grandchildOf(transport);
    process.kill(transport.pid ?? 0, 'SIGKILL');
    await until(() => events.includes('closed'));
    expect(alive(grandchild)).toBe(false);
    expect(transport.exitReason).toBe('killed by SIGKILL');
  });

  it('leaves its grandchildren the time to end well when it is closed', async () => {
    const grandchild = `trap 'sleep 0.1; echo saved >&2; exit' TERM; echo $$ >&2; while :; do sleep 0.01; done`;
    const { transport } = await sh(`sh -c '${grandchild.replaceAll("'", `'"'"'`)}' & wait`, {
      killGraceMs: 3_000,
    });
    await grandchildOf(transport);
    await transport.close();
    expect(transport.stderrTail()).toContain('saved');
  });

  it('is gone although a daemon that left its group still holds its pipes', async () => {
    const { transport, events } = await sh(`${daemonized} & exec cat`);
    daemons.push(await grandchildOf(transport));
    process.kill(transport.pid ?? 0, 'SIGKILL');
    await until(() => events.includes('closed'), 1_500);
    expect(transport.exitReason).toBe('killed by SIGKILL');
  });

  it('is gone although somebody of its group is dead and never collected', async () => {
    const { transport } = await sh(`(sleep 0.01 & exec ${daemonized}) & exec cat`, { killGraceMs: 10_000 });
    daemons.push(await grandchildOf(transport));
    const began = performance.now();
    await transport.close();
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('is killed when it ignores SIGTERM', async () => {
    const { transport, events } = await sh('trap "" TERM; echo ready >&2; while :; do sleep 0.01; done');
    await until(() => transport.stderrTail().length > 0);
    await transport.close();
    expect({ events, reason: transport.exitReason }).toEqual({
      events: ['closed'],
      reason: 'killed by SIGKILL',
    });
  });

  it.each([
    ['stdin', '0<&-', 'broken'],
    ['stdout', '1>&-', 'sent'],
  ])('is ended when it closes its %s', async (pipe, redirection, sent) => {
    const { transport, events } = await sh(`exec ${redirection}; echo ready >&2; sleep 1000`);
    await until(() => transport.stderrTail().length > 0);
    expect(await outcome(transport.sendText('{}'))).toBe(sent);
    await until(() => events.includes('closed'));
    expect(events).toEqual(['broken', 'closed']);
    expect(transport.exitReason).toBe(`closed its ${pipe}`);
  });

  it('is closed once, however often it is asked', async () => {
    const { transport, events } = await sh('cat');
    const closing = transport.close();
    expect(transport.close()).toBe(closing);
    await closing;
    expect(transport.close()).toBe(closing);
    expect(events).toEqual(['closed']);
    await expect(transport.start()).rejects.toThrow('starts once');
  });

  it('is closed even while it starts', async () => {
    const { transport, events } = transportTo({ command: 'cat' });
    const starting = transport.start();
    const pid = transport.pid ?? 0;
    await Promise.all([starting, transport.close()]);
    expect(events).toEqual(['closed']);
    expect(alive(pid)).toBe(false);
  });

  it('dies at once in an emergency, with its grandchildren', async () => {
    const { transport, events } = await sh('trap "" TERM; sleep 1000 & echo $! >&2; wait');
    const pids = [transport.pid ?? 0, await grandchildOf(transport)];
    transport.killNow();
    await until(() => events.includes('closed'));
    expect(pids.filter(alive)).toEqual([]);
    transport.killNow();
  });

  it('dies with the gateway, which knows it as long as anybody of its group lives', async () => {
    const { transport, events } = await sh('trap "" TERM; sleep 1000 & echo $! >&2; wait');
    const pids = [transport.pid ?? 0, await grandchildOf(transport)];
    expect(liveGroups.size).toBe(1);
    killAllProcessGroups();
    await until(() => events.includes('closed'));
    expect(pids.filter(alive)).toEqual([]);
    expect(liveGroups.size).toBe(0);
  });

  it('leaves nothing behind in 50 cycles', async () => {
    const before = handles();
    const pids: number[] = [];
    for (let i = 0; i < 50; i++) {
      const { transport, events } = await sh('cat & cat; wait', { stopGraceMs: 2_000 });
      pids.push(transport.pid ?? 0);
      await transport.sendText('{"jsonrpc":"2.0","id":1}');
      await until(() => events.includes('message'));
      await transport.close();
    }
    expect(pids.filter(alive)).toEqual([]);
    expect(liveGroups.size).toBe(0);
    await until(() => handles() <= before);
  });
});
