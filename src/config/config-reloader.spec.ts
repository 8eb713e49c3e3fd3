import { appendFileSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { configOf } from '../../test/kit/config.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { tempDir } from '../../test/kit/temp-dir.js';
import { until } from '../../test/kit/until.js';
import { ConfigReloader, fingerprintOf } from './config-reloader.js';
import { LiveConfig } from './live-config.js';
import { loadConfig } from './load-config.js';

const server = (...args: string[]): object => ({ command: 'node', args });

let lines: string[];
beforeEach(() => void (lines = recordLog()));

const logged = (message: string): Record<string, unknown>[] =>
  lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((entry) => entry['message'] === message);

describe('ConfigReloader.reload', () => {
  let content: object;
  let live: LiveConfig;
  let reloader: ConfigReloader;

  function start(first: object): void {
    content = first;
    live = new LiveConfig(configOf(first));
    reloader = new ConfigReloader(live, { path: 'g.json', load: () => configOf(content) });
  }

  it('replaces the configuration and logs the changed keys', () => {
    start({});
    content = { mcpServers: { a: server() } };
    expect(reloader.reload()).toMatchObject({ ok: true });
    expect([...live.current.mcpServers.keys()]).toEqual(['a']);
    expect(logged('configuration reloaded')).toMatchObject([{ changed: ['mcpServers'] }]);
    expect(logged('these changes need a restart')).toEqual([]);
  });

  it('logs how keys of other clients were read', () => {
    start({});
    content = { mcpServers: { a: { ...server(), timeout: 30 } } };
    reloader.reload();
    expect(logged('configuration reloaded')).toMatchObject([{ changed: ['mcpServers'] }]);
    expect(logged('configuration note')).toMatchObject([
      { note: expect.stringMatching(/^mcpServers\.a\.timeout is read as 30 s/) },
    ]);
  });

  it('logs nothing when nothing changed', () => {
    start({ mcpServers: { a: server('x') }, projects: { p: { servers: ['a'] } }, auth: { apiKeys: [] } });
    const before = live.current;
    reloader.reload();
    expect(live.current).toBe(before);
    expect(lines).toEqual([]);
  });

  it('applies a changed order of servers', () => {
    start({ mcpServers: { a: server(), b: server() } });
    content = { mcpServers: { b: server(), a: server() } };
    reloader.reload();
    expect([...live.current.mcpServers.keys()]).toEqual(['b', 'a']);
  });

  it('applies the log level without a restart', () => {
    start({});
    content = { log: { level: 'debug' } };
    reloader.reload();
    expect(live.current.log.level).toBe('debug');
    expect(logged('these changes need a restart')).toEqual([]);
  });

  it('logs the keys that need a restart', () => {
    start({});
    content = { http: { port: 4000 }, limits: { pageSize: 7 }, mcpServers: { a: server() } };
    reloader.reload();
    expect(logged('these changes need a restart')).toMatchObject([
      { level: 'warn', keys: ['http', 'limits'] },
    ]);
  });

  it('asks for no restart after a change was reverted, and names the keys until then', () => {
    start({});
    content = { http: { port: 4000 }, limits: { pageSize: 7 } };
    expect(reloader.reload()).toMatchObject({ restartNeeded: ['http', 'limits'] });
    content = { limits: { pageSize: 7 }, log: { level: 'debug' } };
    expect(reloader.reload()).toMatchObject({ restartNeeded: ['limits'] });
    content = { limits: { pageSize: 'x' } };
    expect(reloader.reload()).toMatchObject({ ok: false, restartNeeded: ['limits'] });
    content = {};
    expect(reloader.reload()).toMatchObject({ ok: true, restartNeeded: [] });
    expect(logged('these changes need a restart')).toHaveLength(1);
  });

  it('keeps the configuration when the file is invalid, logs the problem, and applies the next valid file', () => {
    start({ mcpServers: { a: server() } });
    const before = live.current;
    content = { mcpServers: { a: { comand: 'x' }, b: server() } };
    expect(reloader.reload()).toMatchObject({
      ok: false,
      problem: expect.stringContaining('mcpServers.a.comand'),
    });
    expect(live.current).toBe(before);
    expect(logged('configuration not reloaded; the previous one stays in effect')).toMatchObject([
      { level: 'error', problem: expect.stringContaining('mcpServers.a.comand') },
    ]);
    content = { mcpServers: { b: server() } };
    expect(reloader.reload()).toMatchObject({ ok: true });
    expect(reloader.lastOutcome).not.toHaveProperty('problem');
    expect([...live.current.mcpServers.keys()]).toEqual(['b']);
  });

  it('logs that a refused file is valid again, also if it has the configuration from before', () => {
    start({});
    const accepted = 'configuration accepted again; it has not changed';
    reloader.reload();
    content = { limts: {} };
    reloader.reload();
    expect(logged(accepted)).toEqual([]);
    content = {};
    for (let times = 0; times < 2; times++) reloader.reload();
    expect(logged(accepted)).toMatchObject([{ level: 'info' }]);
  });

  describe('beyond loopback', () => {
    const remote = { http: { host: '0.0.0.0' }, auth: { apiKeys: [] } };

    it('refuses to remove auth, also when the file changes the address', () => {
      start(remote);
      for (const http of [{ host: '127.0.0.1' }, { host: '0.0.0.0', allowRemoteWithoutAuth: true }]) {
        content = { http };
        expect(reloader.reload()).toMatchObject({ ok: false, problem: expect.stringMatching(/^auth: /) });
      }
      expect(live.current.auth.isConfigured).toBe(true);
    });

    it('removes auth if the gateway was started with allowRemoteWithoutAuth', () => {
      start({ ...remote, http: { host: '0.0.0.0', allowRemoteWithoutAuth: true } });
      content = { http: { host: '127.0.0.1' } };
      expect(reloader.reload()).toMatchObject({ ok: true });
    });
  });
});

describe('ConfigReloader with a file', () => {
  let directory: string;
  let file: string;
  let live: LiveConfig;
  let reloader: ConfigReloader;
  let loads: number;

  function watchFile(path: string, beforeWatching = (): void => {}): void {
    loads = 0;
    const load = () => {
      loads++;
      return loadConfig({ path, env: {} });
    };
    const fingerprint = fingerprintOf(path);
    live = new LiveConfig(loadConfig({ path, env: {} }));
    beforeWatching();
    reloader = new ConfigReloader(live, { path, fingerprint, load });
    reloader.onApplicationBootstrap();
    onCleanup(() => reloader.onApplicationShutdown());
  }

  const write = (name: string, pageSize: number): void =>
    writeFileSync(join(directory, name), JSON.stringify({ limits: { pageSize } }));

  const hasPageSize = async (pageSize: number): Promise<void> => {
    await until(`the page size is ${pageSize}`, () => live.current.limits.pageSize === pageSize);
  };

  beforeEach(() => {
    directory = tempDir();
    file = join(directory, 'g.json');
    write('g.json', 1);
  });

  it('reloads when the file is written in place', async () => {
    watchFile(file);
    write('g.json', 2);
    await hasPageSize(2);
    write('g.json', 3);
    await hasPageSize(3);
    expect(loads).toBe(2);
  });

  it('reloads when another file is renamed to it', async () => {
    watchFile(file);
    write('g.json.tmp', 2);
    renameSync(join(directory, 'g.json.tmp'), file);
    await hasPageSize(2);
    expect(reloader.lastOutcome.ok).toBe(true);
  });

  it('reloads when the file is removed and created again', async () => {
    watchFile(file);
    rmSync(file);
    await until('the missing file is reported', () => !reloader.lastOutcome.ok);
    expect(reloader.lastOutcome.problem).toContain(file);
    write('g.json', 2);
    await hasPageSize(2);
    expect(reloader.lastOutcome.ok).toBe(true);
  });

  it('reloads when a symbolic link beside it is swapped, as orchestrators mount files', async () => {
    for (const [version, pageSize] of [
      ['..1', 1],
      ['..2', 2],
    ] as const) {
      mkdirSync(join(directory, version));
      write(`${version}/mounted.json`, pageSize);
    }
    symlinkSync('..1', join(directory, '..data'));
    symlinkSync('..data/mounted.json', join(directory, 'mounted.json'));
    watchFile(join(directory, 'mounted.json'));
    symlinkSync('..2', join(directory, '..new'));
    renameSync(join(directory, '..new'), join(directory, '..data'));
    await hasPageSize(2);
    expect(reloader.lastOutcome.ok).toBe(true);
  });

  it('reloads once for a burst of writes', async () => {
    watchFile(file);
    for (let pageSize = 2; pageSize < 50; pageSize++) write('g.json', pageSize);
    await hasPageSize(49);
    expect(loads).toBe(1);
  });

  it('reloads when the file was written between the load at the start and the watch', async () => {
    watchFile(file, () => write('g.json', 2));
    await hasPageSize(2);
    expect(loads).toBe(1);
  });

  it.each<[string, number, () => void | Promise<unknown>]>([
    ['before the first reload', 0, () => {}],
    ['after SIGHUP', 1, () => void process.emit('SIGHUP')],
    [
      'after a refused configuration',
      1,
      () => {
        writeFileSync(file, '{');
        return until('the file is refused', () => !reloader.lastOutcome.ok);
      },
    ],
  ])('does not reload when other files of the directory change %s', async (_when, reloads, act) => {
    watchFile(file);
    await act();
    const log = join(directory, 'gatehouse.log');
    // Writes continue until the change of the configuration file below has been applied.
    const writing = setInterval(() => appendFileSync(log, 'x'), 20);
    onCleanup(() => clearInterval(writing));
    await until(
      'the log file has 15 bytes',
      () => (statSync(log, { throwIfNoEntry: false })?.size ?? 0) >= 15,
    );
    expect(loads).toBe(reloads);
    write('g.json', 5);
    await hasPageSize(5);
    expect(loads).toBe(reloads + 1);
  });

  it('reloads on SIGHUP, and no longer after shutdown', async () => {
    watchFile(file);
    process.emit('SIGHUP');
    expect(loads).toBe(1);
    reloader.onApplicationShutdown();
    process.emit('SIGHUP');
    expect(loads).toBe(1);
    expect(process.listenerCount('SIGHUP')).toBe(0);
  });
});
