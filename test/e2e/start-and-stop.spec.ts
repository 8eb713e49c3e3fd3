import { spawn, type StdioOptions } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { onCleanup } from '../kit/cleanup.js';
import { launch } from '../kit/command-line.js';
import { Gateway, launchGateway, startGateway, writeConfig } from '../kit/gateway.js';
import { exchange, freePort } from '../kit/http.js';
import { descendantsOf, isAlive, untilExited } from '../kit/processes.js';
import { hasPrerequisite } from '../kit/prerequisite.js';
import { MAIN, NODE } from '../kit/program.js';
import { PseudoTerminal } from '../kit/pseudo-terminal.js';
import { RawSession } from '../kit/raw-session.js';
import { everythingOverStdio, filesystem, memory } from '../kit/real-servers.js';
import { Scrape } from '../kit/scrape.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { tempDir } from '../kit/temp-dir.js';
import { deferred, until, within } from '../kit/until.js';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

/** For the end of a process on a busy machine. */
const SLACK_MS = 3000;
/** Far above the time until the readiness is 503. */
const ACCEPT_MS = 3000;

/** A gateway with one scripted server that has a child process of its own, and one client. */
async function begin(config: object = {}, { flags = [] as string[], acceptMs = 0 } = {}) {
  const server = await ScriptedServer.start();
  const end = deferred();
  server
    .tool('wait', async (call) => {
      await Promise.race([end.promise, call.ended]);
      return text('finished');
    })
    .tool('ask', async (call) => {
      const { result } = await call.sendRequest('sampling/createMessage', {});
      return text(JSON.stringify(result));
    });
  const gateway = await startGateway(
    { mcpServers: { s: server.stdio('--grandchild', ...flags) }, ...config },
    { GATEHOUSE__SHUTDOWN__ACCEPTMS: String(acceptMs) },
  );
  await gateway.listed({ tools: ['s'] });
  const session = await RawSession.open(gateway.url, { capabilities: { sampling: {} } });
  const { pid, grandchild } = server.link;
  const processes = [pid!, grandchild!];
  expect(processes.every(isAlive)).toBe(true);
  return { server, gateway, session, processes, end };
}

const inFlight = (server: ScriptedServer): Promise<unknown> =>
  until('the call is in flight', () => server.inFlight > 0);

describe('start', () => {
  it('prints one line with the URL to stdout and logs JSON to stderr', async () => {
    const gateway = await startGateway({
      mcpServers: { off: { command: 'x', disabled: true, timeout: 30 } },
    });
    expect(gateway.stdout).toMatch(/^[^\n]* http:\/\/127\.0\.0\.1:\d+\/mcp\n$/);
    const { note } = await gateway.logged({ level: 'info', message: 'configuration note' });
    expect(note).toMatch(/^mcpServers\.off\.timeout is read as 30 s/);
    await gateway.stop();
    expect(gateway.stdout.split('\n')).toHaveLength(2);
    expect(gateway.stderr).toBe('');
    // Log entries of the framework's start have level debug.
    expect(gateway.logs.filter(({ context }) => /Nest|Rout|Loader/.test(String(context)))).toEqual([]);
    expect(gateway.logs.length).toBeLessThan(10);
  });

  it('serves the real servers of the default config', async () => {
    expect(existsSync('docs')).toBe(true);
    const gateway = launchGateway([], { GATEHOUSE__STATEDIR: join(tempDir(), 'state') });
    await gateway.listening();
    await gateway.listed({ tools: ['everything', 'filesystem', 'memory'], prompts: ['everything'] });
  });

  it('survives a reader of stderr that stops reading and then closes the pipe, and counts the lost log lines', async () => {
    const gateway = await startGateway({ log: { calls: 'all' } });
    const session = await RawSession.open(gateway.url);
    const lost = async (reason: string): Promise<number | undefined> =>
      new Scrape((await exchange(gateway.urlOf('/metrics'))).text).value(
        'gatehouse_log_write_failures_total',
        { reason },
      );
    const logLines = (): Promise<unknown> =>
      Promise.all(
        // Control characters take six bytes each in a line.
        Array.from({ length: 500 }, () =>
          session.request('resources/unsubscribe', { uri: '\u0001'.repeat(300) }),
        ),
      );
    expect([await lost('full'), await lost('closed')]).toEqual([0, 0]);

    gateway.stderrPipe.pause();
    await until('lines are lost', async () => {
      await logLines();
      return (await lost('full'))! > 0;
    });
    const from = gateway.logs.length;
    gateway.stderrPipe.resume();
    await until('the log is written again', async () => {
      await session.callTool('y');
      return gateway.logs.slice(from).some(({ reason }) => reason === 'Unknown tool: y');
    });

    gateway.stderrPipe.destroy();
    await until('lines are lost', async () => {
      await logLines();
      return (await lost('closed'))! > 0;
    });
    expect((await session.request('ping')).result).toEqual({});
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
  });

  it('runs without the reader of stdout, and counts the line that it could not write', async () => {
    const port = await freePort();
    const gateway = launchGateway(['--config', writeConfig({})], { GATEHOUSE__HTTP__PORT: String(port) });
    gateway.stdoutPipe.destroy();
    const urlOf = (path: string): string => `http://127.0.0.1:${port}${path}`;
    const closed = (): Promise<number | undefined> =>
      exchange(urlOf('/metrics')).then(
        ({ text: metrics }) =>
          new Scrape(metrics).value('gatehouse_log_write_failures_total', { reason: 'closed' }),
        () => undefined,
      );
    expect(await until('the line is counted', async () => (await closed()) || false, 25_000)).toBe(1);
    const session = await RawSession.open(urlOf('/mcp'));
    expect((await session.request('ping')).result).toEqual({});
    gateway.signal('SIGTERM');
    expect(await within('the exit', gateway.exited)).toEqual({ code: 0, signal: null });
  });

  it('fails with exit code 1 and one sentence when the port is in use', async () => {
    const port = await freePort();
    const first = await startGateway({}, { GATEHOUSE__HTTP__PORT: String(port) });
    const second = launchGateway(['--config', writeConfig({})], { GATEHOUSE__HTTP__PORT: String(port) });
    const { code } = await within('the second gateway to exit', second.exited);
    expect(code).toBe(1);
    expect(second.stderr).toBe(
      `gatehouse: cannot listen on 127.0.0.1:${port}: the port is in use; stop the program that uses it, ` +
        'or choose another port with http.port or GATEHOUSE__HTTP__PORT\n',
    );
    expect(second.logs.filter(({ level }) => level === 'error')).toEqual([]);
    expect(first.isRunning).toBe(true);
  });

  it.each([
    ['is below a file', (config: string) => join(config, 'state'), 'ENOTDIR'],
    ...(hasPrerequisite('/proc', existsSync('/proc'))
      ? [
          [
            'is in a file system that accepts no new directory',
            () => '/proc/gatehouse/state',
            'ENOENT',
          ] as const,
        ]
      : []),
  ])('fails with exit code 1 and one sentence when stateDir %s', async (_where, place, code) => {
    const config = writeConfig({});
    const stateDir = place(config);
    const gateway = launchGateway(['--config', config], { GATEHOUSE__STATEDIR: stateDir });
    expect((await within('the gateway to exit', gateway.exited)).code).toBe(1);
    expect(gateway.stderr).toBe(
      `gatehouse: cannot write to stateDir ${stateDir} (${code}): give this user the right to write there, ` +
        'or choose another directory with stateDir or GATEHOUSE__STATEDIR\n',
    );
    expect(gateway.logs).toEqual([]);
  });

  it('starts without the default file, says how to create one, and loads it when it appears', async () => {
    const cwd = tempDir();
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, GATEHOUSE__HTTP__PORT: '0', GATEHOUSE__SHUTDOWN__ACCEPTMS: '0' };
    const stdio: StdioOptions = ['ignore', 'pipe', 'pipe'];
    const gateway = new Gateway(spawn(NODE, [join(process.cwd(), MAIN)], { cwd, env, stdio }));
    await gateway.listening();
    await gateway.logged({
      level: 'warn',
      message: 'no configuration file: started without servers',
      path: 'config/gatehouse.yaml',
      fix: 'gatehouse init',
    });
    const server = await ScriptedServer.start();
    server.tool('echo', () => text('hello'));
    mkdirSync(join(cwd, 'config'));
    const config = { mcpServers: { late: server.http } };
    writeFileSync(join(cwd, 'config/gatehouse.yaml'), JSON.stringify(config));
    await gateway.listed({ tools: ['late'] });
    expect((await gateway.stop()).code).toBe(0);
  });

  it('on a terminal writes a banner, and after the first sync how many servers are up and failing', async () => {
    const file = writeConfig({
      mcpServers: { everything: everythingOverStdio(), absent: { command: '/nonexistent' } },
    });
    const env = { GATEHOUSE__HTTP__PORT: '0', GATEHOUSE__SHUTDOWN__ACCEPTMS: '0' };
    const size = { columns: 240, rows: 40 };
    const terminal = PseudoTerminal.run([NODE, MAIN, '--config', file], size, env);
    await terminal.shows(/ {2}servers +1 up, 1 failing: absent \(node dist\/main\.js servers ls --config /);
    for (const expected of [
      /listens on http:\/\/127\.0\.0\.1:\d+\/mcp/,
      `  config file  ${file}`,
      /admin page {3}http:\/\/127\.0\.0\.1:\d+\/admin\/docs/,
      `  admin token  ${join(dirname(file), 'state', 'admin-token')}`,
      `  terminal UI  node dist/main.js tui --config ${file}`,
    ])
      await terminal.shows(expected);
    // Log lines are text on a terminal.
    await terminal.shows(
      /^\d\d:\d\d:\d\d\.\d{3} WARN +\S+: server is (retrying|crash-loop) .*server=absent/m,
    );
    expect(terminal.raw).not.toContain('{"time"');
    expect(terminal.raw).not.toContain('"level"');
    const [, options = ''] = / servers ls( --config \S+ --url \S+)\)/.exec(terminal.raw) ?? [];
    const listed = await launch(['servers', 'ls', ...options.trim().split(' ')]).done;
    expect(listed.stdout).toMatch(/\neverything +ready /);
    terminal.type('\x03');
    await within('the gateway to exit', terminal.exited);
  });
});

describe('shutdown', () => {
  let stubborn: Awaited<ReturnType<typeof begin>>;

  // Stopping such a server takes seconds, so it starts before the other tests.
  beforeAll(async () => {
    stubborn = await begin({}, { flags: ['--stubborn'] });
    stubborn.gateway.signal('SIGTERM');
  });

  it('by SIGTERM serves requests for acceptMs, finishes calls, ends streams last, reaps the children and exits with 0', async () => {
    const { server, gateway, session, processes, end } = await begin({}, { acceptMs: ACCEPT_MS });
    const stream = await session.listen();
    const call = session.callTool('s__wait');
    await inFlight(server);
    const { url } = gateway;

    const signalledAt = performance.now();
    gateway.signal('SIGTERM');
    await until(
      'readiness is 503',
      async () => (await exchange(gateway.urlOf('/health/ready'))).status === 503,
    );
    expect(performance.now() - signalledAt).toBeLessThan(ACCEPT_MS);
    const served = await session.post(PING);
    expect([served.status, served.headers['connection']]).toEqual([200, 'keep-alive']);
    expect((await exchange(gateway.urlOf('/health/live'))).status).toBe(200);
    await until(
      'connections are closed after their answer',
      async () => (await session.post(PING)).headers['connection'] === 'close',
    );
    expect(performance.now() - signalledAt).toBeGreaterThanOrEqual(ACCEPT_MS);
    expect((await (await RawSession.open(url)).request('ping')).result).toEqual({});
    expect(processes.every(isAlive)).toBe(true);
    expect(stream.hasEnded).toBe(false);

    end.resolve();
    expect((await call).result).toEqual(text('finished'));
    await stream.untilEnded();
    expect(await within('the gateway to exit', gateway.exited)).toEqual({ code: 0, signal: null });
    expect(processes.filter(isAlive)).toEqual([]);
  });

  it('by SIGINT has no accept phase, finishes calls and exits with 0', async () => {
    const { server, gateway, session, processes, end } = await begin({}, { acceptMs: 20_000 });
    const call = session.callTool('s__wait');
    await inFlight(server);
    gateway.signal('SIGINT');
    await gateway.logged({ message: 'shutting down', signal: 'SIGINT' });
    end.resolve();
    expect((await call).result).toEqual(text('finished'));
    expect(await within('the gateway to exit', gateway.exited, 10_000)).toEqual({ code: 0, signal: null });
    expect(processes.filter(isAlive)).toEqual([]);
  });

  it('still accepts the response of a client to a request of a server', async () => {
    const { server, gateway, session } = await begin();
    const answered = deferred<object>();
    session.onServerRequest = () => answered.promise;
    const call = session.callTool('s__ask');
    await until('the request arrives', () => session.serverRequests.length > 0);
    gateway.signal('SIGTERM');
    await gateway.logged({ message: 'shutting down', signal: 'SIGTERM' });
    answered.resolve({ answer: 42 });
    expect((await call).result).toEqual(text('{"answer":42}'));
    expect((await within('the gateway to exit', gateway.exited)).code).toBe(0);
    expect(server.inFlight).toBe(0);
  });

  it('ends within a second after shutdown.drainMs, with a running call and a server that ignores signals', async () => {
    const { server, gateway, session, processes } = await begin(
      { shutdown: { drainMs: 300 } },
      { flags: ['--stubborn'], acceptMs: 100 },
    );
    const call = session.callTool('s__wait').then(
      ({ error }) => error?.code,
      () => 'cut off',
    );
    await inFlight(server);
    const signalledAt = performance.now();
    expect((await gateway.stop()).code).toBe(0);
    // The server alone would take five seconds.
    expect(performance.now() - signalledAt).toBeLessThan(1300 + SLACK_MS);
    expect([-31099, -31003, 'cut off']).toContain(await call);
    await untilExited(processes);
    const running = {
      method: 'tools/call',
      tool: 's__wait',
      server: 's',
      session: expect.stringMatching(/^[0-9a-f]{16}$/),
      principal: 'anonymous',
      client: expect.any(String),
      runningMs: expect.any(Number),
    };
    for (const message of [
      'the drain waits for requests in flight',
      'requests were cut off by the drain deadline',
    ])
      expect(await gateway.logged({ message })).toMatchObject({ requests: 1, oldest: [running] });
    await gateway.logged({ level: 'warn', message: 'shutdown took too long: exiting at once' });
  });

  it('is immediate at the second signal and still leaves no process behind', async () => {
    const { server, gateway, session, processes } = await begin(
      {},
      { flags: ['--stubborn'], acceptMs: 20_000 },
    );
    void session.callTool('s__wait').catch(() => {});
    await inFlight(server);
    gateway.signal('SIGTERM');
    await gateway.logged({ message: 'shutting down', signal: 'SIGTERM' });
    const { code } = await gateway.stop('SIGTERM', 1000 + SLACK_MS);
    expect(code).not.toBe(0);
    await untilExited(processes);
  });

  it('ends the processes of servers with isolation per session', async () => {
    const server = await ScriptedServer.start();
    server.tool('pid', (call) => text(String(call.link.pid)));
    const gateway = await startGateway({ mcpServers: { s: { ...server.stdio(), isolation: 'session' } } });
    await gateway.listed({ tools: ['s'] });
    const sessions = await Promise.all([1, 2, 3].map(() => RawSession.open(gateway.url)));
    await Promise.all(sessions.map((session) => session.callTool('s__pid')));
    const pids = server.links.map(({ pid }) => pid!);
    expect(pids.filter(isAlive)).toHaveLength(4);
    expect((await gateway.stop()).code).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  it('does not wait for connections that have sent nothing, half a head or half a body', async () => {
    const gateway = await startGateway({});
    const { hostname, port } = new URL(gateway.url);
    const head = 'POST /mcp HTTP/1.1\r\nhost: localhost\r\naccept: */*\r\ncontent-type: application/json\r\n';
    for (const sent of ['', head, `${head}content-length: 99\r\n\r\n{`]) {
      const socket = connect(Number(port), hostname).on('error', () => {});
      onCleanup(() => socket.destroy());
      await new Promise((resolve) => socket.once('connect', resolve));
      if (sent) socket.write(sent);
    }
    // When this response arrives, the gateway has accepted the connections before it.
    await exchange(gateway.urlOf('/health/live'));
    expect((await gateway.stop()).code).toBe(0);
  });

  it('kills a server that ignores the end of stdin and SIGTERM, with its child processes', async () => {
    const { gateway, processes } = stubborn;
    expect((await within('the gateway to exit', gateway.exited)).code).toBe(0);
    expect(processes.filter(isAlive)).toEqual([]);
  });

  it('by SIGKILL leaves no real server behind: each exits when its stdin is closed', async () => {
    const dir = tempDir();
    const gateway: Gateway = await startGateway({
      mcpServers: {
        everything: everythingOverStdio(),
        files: filesystem(dir),
        memory: memory(join(dir, 'm.jsonl')),
      },
    });
    await gateway.listed({ tools: ['everything', 'files', 'memory'] });
    const children = descendantsOf(gateway.pid);
    expect(children).toHaveLength(3);
    await gateway.stop('SIGKILL');
    await untilExited(children);
  });
});
