import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Events } from '../kit/events.js';
import { launchGateway, writeConfig, type Gateway, type GatewayConfig } from '../kit/gateway.js';
import { RawSession, textIn } from '../kit/raw-session.js';
import { ScriptedBackend, text } from '../kit/scripted-backend.js';
import { tempDir } from '../kit/temp-dir.js';
import { until } from '../kit/until.js';

const TOOLS_CHANGED = 'notifications/tools/list_changed';
const REFUSED = 'configuration not reloaded; the previous one stays in effect';

/** A gateway, and its config file under the hands of an operator. */
class Operated {
  readonly gateway: Gateway;
  private readonly stateDir: string;

  constructor(
    readonly file: string,
    env?: NodeJS.ProcessEnv,
  ) {
    this.stateDir = join(dirname(file), 'state');
    this.gateway = launchGateway(['--config', file], env);
  }

  static async start(config: GatewayConfig, env?: NodeJS.ProcessEnv): Promise<Operated> {
    const operated = new Operated(writeConfig(config), env);
    await operated.gateway.listening();
    return operated;
  }

  textOf(config: GatewayConfig): string {
    return JSON.stringify({ stateDir: this.stateDir, ...config });
  }

  write(config: GatewayConfig | string, file = this.file): void {
    writeFileSync(file, typeof config === 'string' ? config : this.textOf(config));
  }

  /** Writes it, and waits for the log to say what came of it. */
  async change(config: GatewayConfig | string, message = 'configuration reloaded') {
    const from = this.gateway.logs.length;
    this.write(config);
    return this.gateway.logged({ message }, from);
  }
}

const names = (...ids: string[]): string[] => ids.flatMap((id) => [`${id}__t`, `${id}__u`]);

const pidOf = (backend: ScriptedBackend): number => backend.link.pid!;

describe('a config file that changes while the gateway runs', () => {
  let backends: Record<'a' | 'b' | 'c', ScriptedBackend>;
  let servers: Record<'a' | 'b' | 'c', object>;
  let operated: Operated;
  let session: RawSession;
  let stream: Events;

  beforeAll(async () => {
    const [a, b, c] = await Promise.all([1, 2, 3].map(() => ScriptedBackend.start()));
    backends = { a: a!, b: b!, c: c! };
    for (const backend of Object.values(backends))
      backend.tool('t', () => text('done')).tool('u', () => text('done'));
    servers = { a: a!.stdio(), b: b!.stdio(), c: c!.stdio() };
    operated = await Operated.start({ mcpServers: servers });
    await operated.gateway.listed({ tools: ['a', 'b', 'c'] });
    session = await RawSession.open(operated.gateway.url);
    stream = await session.listen();
  }, 30_000);

  const pids = (): number[] => Object.values(backends).map(pidOf);

  it('in one of several servers restarts that one, and the others keep their process', async () => {
    const before = pids();
    await operated.change({ mcpServers: { ...servers, b: { ...servers.b, env: { CHANGED: '1' } } } });
    await until('b is another process', () => backends.b.links.length === 2 && pidOf(backends.b));
    await session.namesUntil('tools', names('a', 'b', 'c'));
    const after = pids();
    expect([after[0], after[2]]).toEqual([before[0], before[2]]);
    expect(after[1]).not.toBe(before[1]);
    expect(textIn(await session.callTool('b__t'))).toBe('done');
    await operated.change({ mcpServers: servers });
    await session.namesUntil('tools', names('a', 'b', 'c'));
  });

  it('in what a link does not depend on reconnects nothing, and holds at once', async () => {
    await until('all are there', () => pids().length === 3);
    const before = [pids(), backends.a.countOf('initialize'), backends.a.countOf('tools/list')];
    const told = stream.count(TOOLS_CHANGED);
    await operated.change({
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
    expect([pids(), backends.a.countOf('initialize'), backends.a.countOf('tools/list')]).toEqual(before);
    await until('the client is told', () => stream.count(TOOLS_CHANGED) > told);
    await operated.change({ mcpServers: servers });
    await session.namesUntil('tools', names('a', 'b', 'c'));
    expect(pids()).toEqual(before[0]);
  });

  it('takes servers away and adds them, and clients are told', async () => {
    const [pidOfA] = pids();
    const told = stream.count(TOOLS_CHANGED);
    await operated.change({ mcpServers: { a: servers.a, b: { ...servers.b, enabled: false } } });
    expect((await session.list('tools')).map(({ name }) => name)).toEqual(names('a'));
    await until('the processes are gone', () =>
      [backends.b, backends.c].every(({ links }) => links.every(({ isOpen }) => !isOpen)),
    );
    await until('the client is told', () => stream.count(TOOLS_CHANGED) > told);
    const again = stream.count(TOOLS_CHANGED);
    await operated.change({ mcpServers: servers });
    await session.namesUntil('tools', names('a', 'b', 'c'));
    await until('the client is told again', () => stream.count(TOOLS_CHANGED) > again);
    expect(pidOf(backends.a)).toBe(pidOfA);
  });

  it('in a project is told to the clients in it, and to nobody else', async () => {
    const at = (id: string): string => operated.gateway.urlOf(`/projects/${id}/mcp`);
    const projects = { p: { servers: ['a'] }, q: { servers: ['b'] } };
    await operated.change({ mcpServers: servers, projects });
    const [inP, inQ] = await Promise.all(['p', 'q'].map((id) => RawSession.open(at(id))));
    const [ofP, ofQ] = await Promise.all([inP!.listen(), inQ!.listen()]);
    const before = pids();
    await operated.change({ mcpServers: servers, projects: { ...projects, p: { servers: ['a', 'c'] } } });
    await until('p is told', () => ofP.count(TOOLS_CHANGED) === 1);
    expect((await inP!.list('tools')).map(({ name }) => name)).toEqual(names('a', 'c'));
    await operated.change({ mcpServers: servers, projects: { q: { servers: ['b', 'c'] } } });
    await until('q is told', () => ofQ.count(TOOLS_CHANGED) === 1);
    expect(ofP.count(TOOLS_CHANGED)).toBe(2);
    expect((await inP!.request('tools/list')).error?.message).toBe('Unknown project: p');
    expect(pids()).toEqual(before);
    await operated.change({ mcpServers: servers });
  });

  it.each<[string, (good: string) => string, RegExp]>([
    ['cut off in the middle', (good) => good.slice(0, -20), /gatehouse\.json/],
    ['empty', () => '', /gatehouse\.json/],
    ['with an unknown key', (good) => good.replace('"command"', '"comand"'), /mcpServers\.a\.comand/],
    ['with an unset variable', (good) => good.replace('"node"', '"${NOT_SET_ANYWHERE}"'), /NOT_SET_ANYWHERE/],
    [
      'with a project of an unknown server',
      (good) => good.replace('{', '{"projects":{"p":{"servers":["x"]}},'),
      /projects\.p\.servers\[0\]/,
    ],
    ['with a server twice', (good) => good.replace('"b":', '"a":'), /gatehouse\.json|mcpServers/],
  ])('%s changes nothing, is logged, and the next good one works', async (_what, spoil, problem) => {
    const good = { mcpServers: { ...servers, a: { ...servers.a, command: 'node' } } };
    // So that what is spoiled would change something if it were half applied.
    const plain = { mcpServers: servers };
    const before = pids();
    const entry = await operated.change(spoil(operated.textOf(good)), REFUSED);
    expect(entry).toMatchObject({ level: 'error', problem: expect.stringMatching(problem) });
    expect((await session.list('tools')).map(({ name }) => name)).toEqual(names('a', 'b', 'c'));
    expect(pids()).toEqual(before);
    await operated.change({ ...plain, limits: { pageSize: 7 } });
    await operated.change(plain);
    expect(pids()).toEqual(before);
  });

  it('is not missed when it was removed, and when it comes back', async () => {
    const before = pids();
    const from = operated.gateway.logs.length;
    rmSync(operated.file);
    await operated.gateway.logged({ message: REFUSED }, from);
    expect(textIn(await session.callTool('a__t'))).toBe('done');
    await operated.change({ mcpServers: { ...servers, c: { ...servers.c, enabled: false } } });
    await session.namesUntil('tools', names('a', 'b'));
    await operated.change({ mcpServers: servers });
    await session.namesUntil('tools', names('a', 'b', 'c'));
    expect(pids().slice(0, 2)).toEqual(before.slice(0, 2));
  });

  it('is seen when another is renamed to it', async () => {
    const from = operated.gateway.logs.length;
    operated.write({ mcpServers: { a: servers.a, b: servers.b } }, `${operated.file}.new`);
    renameSync(`${operated.file}.new`, operated.file);
    const entry = await operated.gateway.logged({ message: 'configuration reloaded' }, from);
    expect(entry).toMatchObject({ changed: ['mcpServers'] });
    await session.namesUntil('tools', names('a', 'b'));
    await operated.change({ mcpServers: servers });
    await session.namesUntil('tools', names('a', 'b', 'c'));
  });

  it('in what needs a restart is reported, by key, and the rest holds', async () => {
    const from = operated.gateway.logs.length;
    const changed = await operated.change({
      mcpServers: { a: servers.a },
      http: { allowedHosts: ['gateway.example'] },
    });
    expect(changed).toMatchObject({ changed: ['http', 'mcpServers'] });
    expect(await operated.gateway.logged({ message: 'these changes need a restart' }, from)).toMatchObject({
      level: 'warn',
      keys: ['http'],
    });
    await session.namesUntil('tools', names('a'));
  });
});

describe('a config file that is not watched, or by another name', () => {
  let backend: ScriptedBackend;

  beforeAll(async () => {
    backend = (await ScriptedBackend.start()).tool('t', () => text('done'));
  });

  it('is read again on SIGHUP', async () => {
    const elsewhere = join(tempDir(), 'real.json');
    const file = join(tempDir(), 'gatehouse.json');
    symlinkSync(elsewhere, file);
    writeFileSync(elsewhere, JSON.stringify({ stateDir: join(dirname(file), 'state') }));
    const operated = new Operated(file);
    await operated.gateway.listening();
    operated.write({ mcpServers: { s: backend.stdio() } });
    operated.gateway.signal('SIGHUP');
    await operated.gateway.listed({ tools: ['s'] });
    expect(operated.gateway.isRunning).toBe(true);
  });

  it('is seen when the directory behind it is swapped, as orchestrators mount files', async () => {
    const mount = tempDir();
    const put = (version: string, config: object): void => {
      mkdirSync(join(mount, version));
      writeFileSync(
        join(mount, version, 'gatehouse.json'),
        JSON.stringify({ stateDir: join(tempDir(), 's'), ...config }),
      );
    };
    put('..1', {});
    put('..2', { mcpServers: { s: backend.stdio() } });
    symlinkSync('..1', join(mount, '..data'));
    symlinkSync('..data/gatehouse.json', join(mount, 'gatehouse.json'));
    const operated = new Operated(join(mount, 'gatehouse.json'));
    await operated.gateway.listening();
    symlinkSync('..2', join(mount, '..data_tmp'));
    renameSync(join(mount, '..data_tmp'), join(mount, '..data'));
    await operated.gateway.listed({ tools: ['s'] });
    expect(operated.gateway.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
