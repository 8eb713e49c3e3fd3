import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { TransportError, type LinkTransport } from '../link/transport.js';
import { killAllProcessGroups, liveGroups } from './process-group.js';
import type { StdioLimits, StdioServer } from './stdio-server.js';
import { StdioTransport } from './stdio-transport.js';

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
  const started = transportTo({ command: 'sh', args: ['-c', script] }, limits);
  await started.transport.start();
  return started;
}

async function until(condition: () => boolean, ms = 20_000): Promise<void> {
  const deadline = performance.now() + ms;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within ${ms} ms: ${String(condition)}`);
    await pause(2);
  }
}

/** False for a zombie, which PID 1 or a subreaper removes from the process table later. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && process.platform !== 'linux';
  }
}

/** The process id that the child wrote to stderr. */
async function grandchildOf(transport: StdioTransport): Promise<number> {
  await until(() => transport.stderrTail().length > 0);
  return Number(transport.stderrTail()[0]);
}

/** A shell command that leaves the process group of its parent and then writes its process id to stderr. */
const daemon = `setsid sh -c 'echo $$ >&2; exec sleep 1000'`;

const outcome = (sent: Promise<void>) =>
  sent.then(
    () => 'sent',
    (error: TransportError) => error.fault,
  );

const handles = () => process.getActiveResourcesInfo().filter((kind) => /Process|Pipe/.test(kind)).length;

afterEach(async () => {
  for (const pid of daemons.splice(0)) process.kill(pid, 'SIGKILL');
  await Promise.all(opened.splice(0).map((transport) => transport.close()));
});

describe('StdioTransport and its process group', () => {
  it.each<[string, StdioServer, RegExp]>([
    [
      'the command is missing',
      { command: 'no-such-command' },
      /"no-such-command": command not found on the PATH/,
    ],
    ['the file is missing', { command: '/no/such/file' }, /"\/no\/such\/file": no such file/],
    ['the file is not executable', { command: '/etc/passwd' }, /no permission to execute it \(EACCES\)/],
    [
      'the directory is missing',
      { command: 'cat', cwd: '/no/such/dir' },
      /"cat": working directory \/no\/such\/dir/,
    ],
    ['the directory is a file', { command: 'cat', cwd: '/etc/passwd' }, /\/etc\/passwd is not a directory/],
    ['an argument cannot be passed', { command: 'cat', args: ['\0'] }, /"cat": .*null bytes/],
  ])('reports the server as unreachable when %s', async (_, server, message) => {
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
  ])('delivers the last messages of a child before onclose: %s', async (end, reason) => {
    const { transport, events } = await sh(
      `for i in 1 2 3; do echo '{"jsonrpc":"2.0","id":1}'; done; ${end}`,
    );
    await until(() => events.includes('closed'));
    expect(events).toEqual(['message', 'message', 'message', 'broken', 'closed']);
    expect(transport.exitReason).toBe(reason);
  });

  it('delivers all last messages to a slow listener', async () => {
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

  it('ends grandchildren on close', async () => {
    const { transport, events } = await sh('sleep 1000 & echo $! >&2; wait');
    const pids = [transport.pid ?? 0, await grandchildOf(transport)];
    expect(pids.every(isRunning)).toBe(true);
    await transport.close();
    expect(pids.filter(isRunning)).toEqual([]);
    expect(transport.pid).toBeUndefined();
    expect(events).toEqual(['closed']);
    expect(transport.exitReason).toBe('killed by SIGTERM');
  });

  it('kills grandchildren that hold the pipes and ignore SIGTERM when the child crashes', async () => {
    const { transport, events } = await sh(
      `sh -c 'trap "" TERM; echo $$ >&2; while :; do sleep 1; done' & wait`,
    );
    const grandchild = await grandchildOf(transport);
    process.kill(transport.pid ?? 0, 'SIGKILL');
    await until(() => events.includes('closed'));
    expect(isRunning(grandchild)).toBe(false);
    expect(transport.exitReason).toBe('killed by SIGKILL');
  });

  it('gives grandchildren time to handle SIGTERM on close', async () => {
    const grandchild = `trap 'sleep 0.1; echo saved >&2; exit' TERM; echo $$ >&2; while :; do sleep 0.01; done`;
    const { transport } = await sh(`sh -c '${grandchild.replaceAll("'", `'"'"'`)}' & wait`, {
      killGraceMs: 3_000,
    });
    await grandchildOf(transport);
    await transport.close();
    expect(transport.stderrTail()).toContain('saved');
  });

  it('closes although a daemon outside the group holds the pipes', async () => {
    const { transport, events } = await sh(`${daemon} & exec cat`);
    daemons.push(await grandchildOf(transport));
    process.kill(transport.pid ?? 0, 'SIGKILL');
    await until(() => events.includes('closed'));
    expect(transport.exitReason).toBe('killed by SIGKILL');
  });

  it('closes although a zombie stays in the group', async () => {
    const { transport } = await sh(`(sleep 0.01 & exec ${daemon}) & exec cat`, { killGraceMs: 10_000 });
    daemons.push(await grandchildOf(transport));
    const startedAt = performance.now();
    await transport.close();
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it('kills a child that ignores SIGTERM', async () => {
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
  ])('ends a child that closes its %s', async (pipe, redirection, sent) => {
    const { transport, events } = await sh(`exec ${redirection}; echo ready >&2; sleep 1000`);
    await until(() => transport.stderrTail().length > 0);
    expect(await outcome(transport.sendText('{}'))).toBe(sent);
    await until(() => events.includes('closed'));
    expect(events).toEqual(['broken', 'closed']);
    expect(transport.exitReason).toBe(`closed its ${pipe}`);
  });

  it('closes once when close is called repeatedly', async () => {
    const { transport, events } = await sh('cat');
    const closing = transport.close();
    expect(transport.close()).toBe(closing);
    await closing;
    expect(transport.close()).toBe(closing);
    expect(events).toEqual(['closed']);
    await expect(transport.start()).rejects.toThrow('starts once');
  });

  it('closes while the child starts', async () => {
    const { transport, events } = transportTo({ command: 'cat' });
    const starting = transport.start();
    const pid = transport.pid ?? 0;
    await Promise.all([starting, transport.close()]);
    expect(events).toEqual(['closed']);
    expect(isRunning(pid)).toBe(false);
  });

  it('kills the child and its grandchildren in killAllProcessGroups', async () => {
    const { transport, events } = await sh('trap "" TERM; sleep 1000 & echo $! >&2; wait');
    const pids = [transport.pid ?? 0, await grandchildOf(transport)];
    expect(liveGroups.size).toBe(1);
    killAllProcessGroups();
    await until(() => events.includes('closed'));
    expect(pids.filter(isRunning)).toEqual([]);
    expect(liveGroups.size).toBe(0);
    killAllProcessGroups();
  });

  it('leaks no processes or handles in 50 cycles', async () => {
    const before = handles();
    const pids: number[] = [];
    for (let i = 0; i < 50; i++) {
      const { transport, events } = await sh('cat & cat; wait', { stopGraceMs: 2_000 });
      pids.push(transport.pid ?? 0);
      await transport.sendText('{"jsonrpc":"2.0","id":1}');
      await until(() => events.includes('message'));
      await transport.close();
    }
    expect(pids.filter(isRunning)).toEqual([]);
    expect(liveGroups.size).toBe(0);
    await until(() => handles() <= before);
  });
});
