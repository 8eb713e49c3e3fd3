import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Events } from '../kit/events.js';
import { launchGateway, writeConfig, type Gateway, type GatewayConfig } from '../kit/gateway.js';
import { RawSession, textIn } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { tempDir } from '../kit/temp-dir.js';
import { until } from '../kit/until.js';

const TOOLS_CHANGED = 'notifications/tools/list_changed';
const REFUSED = 'configuration not reloaded; the previous one stays in effect';

/** A gateway and its config file, which tests rewrite. */
class ReloadableGateway {
  readonly gateway: Gateway;
  private readonly stateDir: string;

  constructor(
    readonly file: string,
    env?: NodeJS.ProcessEnv,
  ) {
    this.stateDir = join(dirname(file), 'state');
    this.gateway = launchGateway(['--config', file], env);
  }

  static async start(config: GatewayConfig, env?: NodeJS.ProcessEnv): Promise<ReloadableGateway> {
    const reloadable = new ReloadableGateway(writeConfig(config), env);
    await reloadable.gateway.listening();
    return reloadable;
  }

  textOf(config: GatewayConfig): string {
    return JSON.stringify({ stateDir: this.stateDir, ...config });
  }

  write(config: GatewayConfig | string, file = this.file): void {
    writeFileSync(file, typeof config === 'string' ? config : this.textOf(config));
  }

  /** Writes the config and waits for the log entry of the reload. */
  async change(config: GatewayConfig | string, message = 'configuration reloaded') {
    const from = this.gateway.logs.length;
    this.write(config);
    return this.gateway.logged({ message }, from);
  }
}

const names = (...ids: string[]): string[] => ids.flatMap((id) => [`${id}__t`, `${id}__u`]);

const pidOf = (server: ScriptedServer): number => server.link.pid!;

/** Waits until the server has had that many processes, and the last one is its only one. */
const untilProcesses = (server: ScriptedServer, count: number): Promise<unknown> =>
  until(`the server has process number ${count}`, () => {
    const open = server.links.filter(({ isOpen }) => isOpen);
    return server.links.length === count && open.length === 1 && open[0]!.pid !== undefined;
  });

describe('a config reload', () => {
  let scriptedServers: Record<'a' | 'b' | 'c', ScriptedServer>;
  let servers: Record<'a' | 'b' | 'c', object>;
  let reloadable: ReloadableGateway;
  let session: RawSession;
  let stream: Events;

  beforeAll(async () => {
    const [a, b, c] = await Promise.all([1, 2, 3].map(() => ScriptedServer.start()));
    scriptedServers = { a: a!, b: b!, c: c! };
    for (const server of Object.values(scriptedServers))
      server.tool('t', () => text('done')).tool('u', () => text('done'));
    a!.resource('x://1');
    servers = { a: a!.stdio(), b: b!.stdio(), c: c!.stdio() };
    reloadable = await ReloadableGateway.start({ mcpServers: servers });
    await reloadable.gateway.listed({ tools: ['a', 'b', 'c'] });
    session = await RawSession.open(reloadable.gateway.url);
    stream = await session.listen();
  });

  const pids = (): number[] => Object.values(scriptedServers).map(pidOf);

  it('restarts only the process of the changed server', async () => {
    const before = pids();
    await reloadable.change({ mcpServers: { ...servers, b: { ...servers.b, env: { CHANGED: '1' } } } });
    await untilProcesses(scriptedServers.b, 2);
    await session.namesUntil('tools', names('a', 'b', 'c'));
    const after = pids();
    expect([after[0], after[2]]).toEqual([before[0], before[2]]);
    expect(after[1]).not.toBe(before[1]);
    expect(textIn(await session.callTool('b__t'))).toBe('done');
    await reloadable.change({ mcpServers: servers });
    await untilProcesses(scriptedServers.b, 3);
    await session.namesUntil('tools', names('a', 'b', 'c'));
  });

  it('applies keys that do not concern the connection at once and without a reconnect', async () => {
    const before = [pids(), scriptedServers.a.countOf('initialize'), scriptedServers.a.countOf('tools/list')];
    const listChanges = stream.count(TOOLS_CHANGED);
    await reloadable.change({
      mcpServers: {
        a: { ...servers.a, tools: { disabled: ['u'] }, concurrency: 1, timeoutMs: 5000 },
        b: { ...servers.b, naming: { tools: 'conflict' } },
        c: { ...servers.c, queue: 0 },
      },
    });
    expect((await session.list('tools')).map(({ name }) => name)).toEqual(['a__t', ...names('c'), 't', 'u']);
    expect((await session.callTool('a__u')).error).toMatchObject({
      code: -32602,
      message: 'Unknown tool: a__u',
    });
    expect([
      pids(),
      scriptedServers.a.countOf('initialize'),
      scriptedServers.a.countOf('tools/list'),
    ]).toEqual(before);
    await until('the client gets a list change', () => stream.count(TOOLS_CHANGED) > listChanges);
    await reloadable.change({ mcpServers: servers });
    await session.namesUntil('tools', names('a', 'b', 'c'));
    expect(pids()).toEqual(before[0]);
  });

  it('removes and adds servers, and clients get a list change', async () => {
    const [pidOfA] = pids();
    const listChanges = stream.count(TOOLS_CHANGED);
    await reloadable.change({ mcpServers: { a: servers.a, b: { ...servers.b, enabled: false } } });
    expect((await session.list('tools')).map(({ name }) => name)).toEqual(names('a'));
    await until('the processes are gone', () =>
      [scriptedServers.b, scriptedServers.c].every(({ links }) => links.every(({ isOpen }) => !isOpen)),
    );
    await until('the client gets a list change', () => stream.count(TOOLS_CHANGED) > listChanges);
    const again = stream.count(TOOLS_CHANGED);
    await reloadable.change({ mcpServers: servers });
    await session.namesUntil('tools', names('a', 'b', 'c'));
    await until('the client gets another list change', () => stream.count(TOOLS_CHANGED) > again);
    expect(pidOf(scriptedServers.a)).toBe(pidOfA);
  });

  it('of the log settings applies to later lines, which name the client', async () => {
    await reloadable.change({ mcpServers: servers, log: { level: 'debug' } });
    await session.request('resources/subscribe', { uri: 'resource://a/x://1' });
    await reloadable.gateway.logged({ level: 'debug', message: 'subscribed', client: 'raw 1' });
    await reloadable.change({ mcpServers: servers, log: { level: 'log', calls: 'all' } });
    await session.callTool('none', {}, 'later');
    expect(await reloadable.gateway.logged({ message: 'request failed', tool: 'none' })).toMatchObject({
      level: 'info',
      client: 'raw 1',
      method: 'tools/call',
    });
    await session.request('ping');
    await reloadable.gateway.logged({ message: 'request', method: 'ping', outcome: 'ok' });
    await reloadable.change({ mcpServers: servers, log: { calls: 'sampled', sample: 3 } });
    const from = reloadable.gateway.logs.length;
    for (let n = 0; n < 9; n++) await session.request('ping');
    await session.callTool('none', {}, 'last');
    await reloadable.gateway.logged({ message: 'request failed', tool: 'none' }, from);
    const sampled = reloadable.gateway.logs.slice(from).filter(({ message }) => message === 'request');
    expect(sampled.map(({ method }) => method)).toEqual(['ping', 'ping', 'ping']);
    reloadable.write({ mcpServers: servers, log: { format: 'text' } });
    await until('lines are text', () => reloadable.gateway.stderr.includes(' configuration reloaded '));
    await reloadable.change({ mcpServers: servers });
  });

  it('of a project sends list changes only to clients in that project', async () => {
    const at = (id: string): string => reloadable.gateway.urlOf(`/projects/${id}/mcp`);
    const projects = { p: { servers: ['a'] }, q: { servers: ['b'] } };
    await reloadable.change({ mcpServers: servers, projects });
    const [inP, inQ] = await Promise.all(['p', 'q'].map((id) => RawSession.open(at(id))));
    const [ofP, ofQ] = await Promise.all([inP!.listen(), inQ!.listen()]);
    const before = pids();
    await reloadable.change({ mcpServers: servers, projects: { ...projects, p: { servers: ['a', 'c'] } } });
    await until('p gets a list change', () => ofP.count(TOOLS_CHANGED) === 1);
    expect((await inP!.list('tools')).map(({ name }) => name)).toEqual(names('a', 'c'));
    await reloadable.change({ mcpServers: servers, projects: { q: { servers: ['b', 'c'] } } });
    await until('q gets a list change', () => ofQ.count(TOOLS_CHANGED) === 1);
    await until('p gets another list change', () => ofP.count(TOOLS_CHANGED) === 2);
    expect((await inP!.request('tools/list')).error?.message).toBe('Unknown project: p');
    expect(pids()).toEqual(before);
    await reloadable.change({ mcpServers: servers });
  });

  it.each<[string, (good: string) => string, RegExp]>([
    ['a truncated file', (good) => good.slice(0, -20), /gatehouse\.json/],
    ['an empty file', () => '', /gatehouse\.json/],
    ['an unknown key', (good) => good.replace('"command"', '"comand"'), /mcpServers\.a\.comand/],
    ['an unset variable', (good) => good.replace('"node"', '"${NOT_SET_ANYWHERE}"'), /NOT_SET_ANYWHERE/],
    [
      'a project of an unknown server',
      (good) => good.replace('{', '{"projects":{"p":{"servers":["x"]}},'),
      /projects\.p\.servers\[0\]/,
    ],
    ['a duplicate server', (good) => good.replace('"b":', '"a":'), /gatehouse\.json|mcpServers/],
  ])(
    'with %s changes nothing, is logged, and the next valid config is applied',
    async (_case, makeInvalid, problem) => {
      const good = { mcpServers: { ...servers, a: { ...servers.a, command: 'node' } } };
      // Differs from the running config, so that an invalid file applied in part would be noticed.
      const plain = { mcpServers: servers };
      const before = pids();
      const entry = await reloadable.change(makeInvalid(reloadable.textOf(good)), REFUSED);
      expect(entry).toMatchObject({ level: 'error', problem: expect.stringMatching(problem) });
      expect((await session.list('tools')).map(({ name }) => name)).toEqual(names('a', 'b', 'c'));
      expect(pids()).toEqual(before);
      await reloadable.change({ ...plain, limits: { pageSize: 7 } });
      await reloadable.change(plain);
      expect(pids()).toEqual(before);
    },
  );

  it('happens when the file is created again, and is logged as failed when the file is removed', async () => {
    const before = pids();
    const from = reloadable.gateway.logs.length;
    rmSync(reloadable.file);
    await reloadable.gateway.logged({ message: REFUSED }, from);
    expect(textIn(await session.callTool('a__t'))).toBe('done');
    await reloadable.change({ mcpServers: { ...servers, c: { ...servers.c, enabled: false } } });
    await session.namesUntil('tools', names('a', 'b'));
    await reloadable.change({ mcpServers: servers });
    await session.namesUntil('tools', names('a', 'b', 'c'));
    expect(pids().slice(0, 2)).toEqual(before.slice(0, 2));
  });

  it('happens when another file is renamed to the config file', async () => {
    const from = reloadable.gateway.logs.length;
    reloadable.write({ mcpServers: { a: servers.a, b: servers.b } }, `${reloadable.file}.new`);
    renameSync(`${reloadable.file}.new`, reloadable.file);
    const entry = await reloadable.gateway.logged({ message: 'configuration reloaded' }, from);
    expect(entry).toMatchObject({ changed: ['mcpServers'] });
    await session.namesUntil('tools', names('a', 'b'));
    await reloadable.change({ mcpServers: servers });
    await session.namesUntil('tools', names('a', 'b', 'c'));
  });

  it('applies the keys that need no restart and logs the others', async () => {
    const from = reloadable.gateway.logs.length;
    const changed = await reloadable.change({
      mcpServers: { a: servers.a },
      http: { allowedHosts: ['gateway.example'] },
    });
    expect(changed).toMatchObject({ changed: ['http', 'mcpServers'] });
    expect(await reloadable.gateway.logged({ message: 'these changes need a restart' }, from)).toMatchObject({
      level: 'warn',
      keys: ['http'],
    });
    await session.namesUntil('tools', names('a'));
  });
});

describe('a config file behind a symbolic link', () => {
  let server: ScriptedServer;

  beforeAll(async () => {
    server = (await ScriptedServer.start()).tool('t', () => text('done'));
  });

  it('is read again on SIGHUP', async () => {
    const elsewhere = join(tempDir(), 'real.json');
    const file = join(tempDir(), 'gatehouse.json');
    symlinkSync(elsewhere, file);
    writeFileSync(elsewhere, JSON.stringify({ stateDir: join(dirname(file), 'state') }));
    const reloadable = new ReloadableGateway(file);
    await reloadable.gateway.listening();
    reloadable.write({ mcpServers: { s: server.stdio() } });
    reloadable.gateway.signal('SIGHUP');
    await reloadable.gateway.listed({ tools: ['s'] });
    expect(reloadable.gateway.isRunning).toBe(true);
  });

  it('is read again when the directory behind it is replaced, as Kubernetes updates mounted files', async () => {
    const mount = tempDir();
    const put = (version: string, config: object): void => {
      mkdirSync(join(mount, version));
      writeFileSync(
        join(mount, version, 'gatehouse.json'),
        JSON.stringify({ stateDir: join(tempDir(), 's'), ...config }),
      );
    };
    put('..1', {});
    put('..2', { mcpServers: { s: server.stdio() } });
    symlinkSync('..1', join(mount, '..data'));
    symlinkSync('..data/gatehouse.json', join(mount, 'gatehouse.json'));
    const reloadable = new ReloadableGateway(join(mount, 'gatehouse.json'));
    await reloadable.gateway.listening();
    symlinkSync('..2', join(mount, '..data_tmp'));
    renameSync(join(mount, '..data_tmp'), join(mount, '..data'));
    await reloadable.gateway.listed({ tools: ['s'] });
    expect(reloadable.gateway.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
