import { Logger } from '@nestjs/common';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { AdminHarness } from '../../test/kit/admin-harness.js';
import { configOf } from '../../test/kit/config.js';
import { outcomeOf, flushPromises } from '../../test/kit/promises.js';
import { deferred } from '../../test/kit/until.js';
import type { JsonObject } from '../lib/json-text/json-value.js';
import type { AdminProblem } from './admin-problem.js';
import { AdminTokens } from './admin-tokens.js';
import { SecretRedactor } from './secret-redactor.js';

beforeAll(() => Logger.overrideLogger(false));

const url = 'http://a.example/mcp';
const config = { mcpServers: { http: { url }, stdio: { command: 'node', args: ['x'] } } };

const kindOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'done',
    (error: AdminProblem) => error.kind,
  );

describe('ServerAdmin', () => {
  it('enables and disables idempotently', async () => {
    const harness = new AdminHarness(config);
    const first = await harness.servers.setEnabled(harness.caller(), 'http', false);
    const second = await harness.servers.setEnabled(harness.caller(), 'http', false);
    expect(second).toEqual(first);
    expect(harness.state.current.revision).toBe(1);
    expect(harness.actions).toEqual(['server.disable http begun', 'server.disable http done']);
    await harness.servers.setEnabled(harness.caller(), 'http', true);
    expect(harness.desired.current.get('http')?.enabled).toBe(true);
  });

  it('stores nothing when nothing changes', async () => {
    const harness = new AdminHarness(config);
    await harness.servers.setEnabled(harness.caller(), 'http', true);
    await harness.servers.put(harness.caller(), 'http', { url });
    await harness.servers.patch(harness.caller(), 'http', {});
    expect([harness.state.current.revision, harness.actions]).toEqual([0, []]);
    expect((await harness.servers.show('http', 'admin')).server.origin).toBe('config');
  });

  it('drops decisions that return to the file, with their stamps', async () => {
    const harness = new AdminHarness(config);
    harness.listings.set('http', ['a']);
    const caller = harness.caller();
    await harness.servers.setEnabled(caller, 'http', false);
    expect((await harness.servers.show('http', 'admin')).server.decisions).toEqual([
      expect.objectContaining({ change: 'disabled', by: 'admin', at: expect.any(String), overrules: true }),
    ]);
    await harness.servers.setEnabled(caller, 'http', true);
    await harness.servers.setToolEnabled(caller, 'http', 'a', false);
    expect((await harness.servers.show('http', 'admin')).server.tools).toMatchObject([
      { origin: 'admin', decision: { change: 'disabled', by: 'admin' } },
    ]);
    await harness.servers.setToolEnabled(caller, 'http', 'a', true);
    await harness.servers.patch(caller, 'http', { timeoutMs: 5 });
    await harness.servers.patch(caller, 'http', { timeoutMs: null });
    const { servers, stamps } = harness.state.current;
    expect([servers.size, stamps.size]).toEqual([0, 0]);
    expect((await harness.servers.show('http', 'admin')).server).not.toHaveProperty('decisions');
  });

  it('names the keys that a patch changed', async () => {
    const harness = new AdminHarness(config);
    const patch = (body: object) => harness.servers.patch(harness.caller(), 'http', body as JsonObject);
    expect((await patch({ timeoutMs: 5, queue: 3 })).changed).toEqual(['queue', 'timeoutMs']);
    expect((await patch({ timeoutMs: 5 })).changed).toEqual([]);
  });

  it('refuses to change what the file defines with the policy file, except for emergency switches', async () => {
    const file = { ...config, decisions: { policy: 'file' }, projects: { p: { servers: ['http'] } } };
    const off = { command: 'node', enabled: false, tools: { disabled: ['t'] } };
    const harness = new AdminHarness({ ...file, mcpServers: { ...config.mcpServers, off } });
    harness.listings.set('http', ['a']);
    const { servers, projects } = harness;
    const caller = harness.caller();
    const refused = await Promise.all([
      kindOf(servers.put(caller, 'http', { url, timeoutMs: 5 })),
      kindOf(servers.patch(caller, 'http', { timeoutMs: 5 })),
      kindOf(servers.remove(caller, 'http')),
      kindOf(servers.setEnabled(caller, 'off', true)),
      kindOf(servers.setToolEnabled(caller, 'off', 't', true)),
      kindOf(projects.put(caller, 'p', { servers: [] })),
      kindOf(projects.remove(caller, 'p')),
    ]);
    expect(refused).toEqual(refused.map(() => 'defined-in-file'));
    expect(await kindOf(servers.put(caller, 'http', { url }))).toBe('done');
    expect(await kindOf(servers.put(caller, 'added', { url }))).toBe('done');
    expect(await kindOf(servers.remove(caller, 'added'))).toBe('done');
    expect((await servers.setToolEnabled(caller, 'http', 'a', false)).server.counts.disabledTools).toBe(1);
    const { server } = await servers.setEnabled(caller, 'http', false);
    expect(server).toMatchObject({ enabled: false, decisions: [{ emergency: true, overrules: true }] });
    expect((await servers.setEnabled(caller, 'http', true)).server.enabled).toBe(true);
    expect((await servers.setToolEnabled(caller, 'http', 'a', true)).server.counts.disabledTools).toBe(0);
    expect(harness.state.current.servers.size).toBe(0);
  });

  it('makes an ignored decision an emergency switch when it is made again', async () => {
    const harness = new AdminHarness(config);
    await harness.servers.setEnabled(harness.caller(), 'http', false);
    harness.live.replace(configOf({ ...config, decisions: { policy: 'file' } }));
    expect(harness.desired.current.get('http')?.enabled).toBe(true);
    await harness.servers.setEnabled(harness.caller(), 'http', false);
    expect(harness.desired.current.get('http')?.enabled).toBe(false);
  });

  it('replaces earlier decisions by a new definition', async () => {
    const harness = new AdminHarness(config);
    harness.listings.set('http', ['a', 'b']);
    await harness.servers.setToolEnabled(harness.caller(), 'http', 'a', false);
    await harness.servers.setEnabled(harness.caller(), 'http', false);
    const { server, created } = await harness.servers.put(harness.caller(), 'http', { url, timeoutMs: 5 });
    expect(created).toBe(false);
    expect(server).toMatchObject({ enabled: true, counts: { tools: 2, disabledTools: 0 } });
    expect(harness.entries.at(-2)?.change).toEqual({
      changed: ['enabled', 'timeoutMs', 'tools'],
      transport: 'http',
    });
  });

  it('keeps earlier decisions when a patch changes the definition', async () => {
    const harness = new AdminHarness(config);
    harness.listings.set('http', ['a', 'b']);
    await harness.servers.setToolEnabled(harness.caller(), 'http', 'a', false);
    const { server } = await harness.servers.patch(harness.caller(), 'http', { queue: 3 });
    expect(server).toMatchObject({ counts: { disabledTools: 1 }, definition: { queue: 3 } });
  });

  it('deletes an added server entirely and marks a configured one as removed', async () => {
    const harness = new AdminHarness(config);
    await harness.servers.put(harness.caller(), 'added', { url });
    await harness.servers.remove(harness.caller(), 'added');
    await harness.servers.remove(harness.caller(), 'http');
    expect([...harness.state.current.servers]).toEqual([['http', { removed: true }]]);
    expect(await kindOf(harness.servers.remove(harness.caller(), 'http'))).toBe('not-found');
    const { created } = await harness.servers.put(harness.caller(), 'http', { url });
    expect(created).toBe(true);
  });

  it.each<[string, object, string]>([
    ['new', { command: 'sh' }, 'stdio-not-allowed'],
    ['http', { command: 'sh' }, 'stdio-not-allowed'],
    ['stdio', { command: 'node', args: ['y'] }, 'stdio-not-allowed'],
    ['stdio', { command: 'node', args: ['x'], env: { LD_PRELOAD: 'x' } }, 'stdio-not-allowed'],
    ['stdio', { command: 'node', args: ['x'], timeoutMs: 7 }, 'done'],
    ['stdio', { url }, 'done'],
  ])('refuses commands without allowStdio: %s %j is %s', async (id, definition, kind) => {
    const harness = new AdminHarness(config);
    expect(await kindOf(harness.servers.put(harness.caller(), id, { ...definition }))).toBe(kind);
    const allowing = new AdminHarness(config, { allowStdio: true });
    expect(await kindOf(allowing.servers.put(allowing.caller(), id, { ...definition }))).toBe('done');
  });

  it('accepts the configured command of a deleted server', async () => {
    const harness = new AdminHarness(config);
    await harness.servers.remove(harness.caller(), 'stdio');
    const restored = harness.servers.put(harness.caller(), 'stdio', { command: 'node', args: ['x'] });
    expect(await kindOf(restored)).toBe('done');
  });

  it('enables a deleted server with its present configuration and without earlier decisions', async () => {
    const harness = new AdminHarness(config);
    harness.listings.set('stdio', ['a']);
    await harness.servers.setToolEnabled(harness.caller(), 'stdio', 'a', false);
    await harness.servers.remove(harness.caller(), 'stdio');
    const mcpServers = { stdio: { command: 'node', args: ['y'], enabled: false } };
    harness.live.replace(configOf({ mcpServers }));
    const { server } = await harness.servers.setEnabled(harness.caller(), 'stdio', true);
    expect(server).toMatchObject({
      enabled: true,
      origin: 'config',
      definition: { args: ['y'] },
      counts: { disabledTools: 0 },
    });
    expect(harness.actions.slice(-2)).toEqual(['server.enable stdio begun', 'server.enable stdio done']);
    await harness.servers.setEnabled(harness.caller(), 'stdio', true);
    expect(harness.actions).toHaveLength(6);
  });

  it('refuses to enable an unknown server, and every other action on a deleted one', async () => {
    const harness = new AdminHarness(config);
    await harness.servers.put(harness.caller(), 'added', { url });
    await harness.servers.remove(harness.caller(), 'added');
    const { etag } = await harness.servers.show('http', 'admin');
    await harness.servers.remove(harness.caller(), 'http');
    const set = (id: string, on: boolean, ifMatch?: string): Promise<string> =>
      kindOf(harness.servers.setEnabled(harness.caller(ifMatch), id, on));
    expect([await set('added', true), await set('http', false)]).toEqual(['not-found', 'not-found']);
    expect(await set('http', true, etag)).toBe('precondition-failed');
    harness.live.replace(configOf({}));
    expect(await set('http', true)).toBe('not-found');
  });

  it('refuses a change when If-Match names another version', async () => {
    const harness = new AdminHarness(config);
    const { etag } = await harness.servers.show('http', 'admin');
    const next = await harness.servers.setEnabled(harness.caller(etag), 'http', false);
    expect(next.etag).not.toBe(etag);
    expect(await kindOf(harness.servers.setEnabled(harness.caller(etag), 'http', true))).toBe(
      'precondition-failed',
    );
    expect(await kindOf(harness.servers.remove(harness.caller(etag), 'http'))).toBe('precondition-failed');
    expect(await kindOf(harness.servers.patch(harness.caller(etag), 'http', {}))).toBe('precondition-failed');
    expect(await kindOf(harness.servers.put(harness.caller(etag), 'new', { url }))).toBe(
      'precondition-failed',
    );
  });

  it('applies only one of several concurrent changes with the same If-Match', async () => {
    const harness = new AdminHarness(config);
    const { etag } = await harness.servers.show('http', 'admin');
    const kinds = await Promise.all(
      [1, 2, 3].map((queue) => kindOf(harness.servers.patch(harness.caller(etag), 'http', { queue }))),
    );
    expect(kinds.toSorted()).toEqual(['done', 'precondition-failed', 'precondition-failed']);
  });

  it('enables and disables only tools that are listed or disabled', async () => {
    const harness = new AdminHarness(config);
    const set = (tool: string, on: boolean): Promise<string> =>
      kindOf(harness.servers.setToolEnabled(harness.caller(), 'http', tool, on));
    expect(await set('a', false)).toBe('conflict');
    harness.listings.set('http', ['a', '__proto__']);
    expect([await set('a', false), await set('__proto__', false)]).toEqual(['done', 'done']);
    expect([...harness.desired.current.get('http')!.disabledTools]).toEqual(['a', '__proto__']);
    expect([await set('b', false), await set('constructor', false)]).toEqual(['not-found', 'not-found']);
    harness.listings.delete('http');
    expect(await set('a', true)).toBe('done');
    expect(await kindOf(harness.servers.setToolEnabled(harness.caller(), 'none', 'a', true))).toBe(
      'not-found',
    );
  });

  it('answers a reconnect after the first sync', async () => {
    const harness = new AdminHarness(config);
    const outcome = outcomeOf(harness.servers.reconnect(harness.caller(), 'http'));
    const firstSync = deferred();
    harness.firstSync = firstSync.promise;
    await flushPromises();
    expect([harness.actions.at(-1), outcome]).toEqual(['server.reconnect http done', {}]);
    firstSync.resolve();
    await flushPromises();
    expect(outcome.value?.server.id).toBe('http');
  });

  it('reconnects only enabled servers', async () => {
    const harness = new AdminHarness(config);
    expect(await kindOf(harness.servers.reconnect(harness.caller(), 'http'))).toBe('done');
    await harness.servers.setEnabled(harness.caller(), 'http', false);
    expect(await kindOf(harness.servers.reconnect(harness.caller(), 'http'))).toBe('conflict');
  });
});

describe('AdminActions', () => {
  it('does not apply a change that cannot be recorded', async () => {
    const harness = new AdminHarness(config);
    harness.auditIsBroken = true;
    expect(await kindOf(harness.servers.setEnabled(harness.caller(), 'http', false))).toBe(
      'storage-unavailable',
    );
    expect(harness.state.current.revision).toBe(0);
    expect(harness.desired.current.get('http')?.enabled).toBe(true);
  });

  it('records a change that cannot be stored as failed', async () => {
    const harness = new AdminHarness(config);
    harness.state.isBroken = true;
    expect(await kindOf(harness.servers.setEnabled(harness.caller(), 'http', false))).toBe(
      'storage-unavailable',
    );
    expect(harness.actions).toEqual(['server.disable http begun', 'server.disable http failed']);
    expect(harness.desired.current.get('http')?.enabled).toBe(true);
    harness.state.isBroken = false;
    expect(await kindOf(harness.servers.setEnabled(harness.caller(), 'http', false))).toBe('done');
  });

  it('keeps a change whose outcome cannot be recorded', async () => {
    const harness = new AdminHarness(config);
    harness.state.onChange(() => (harness.auditIsBroken = true));
    expect(await kindOf(harness.servers.setEnabled(harness.caller(), 'http', false))).toBe('done');
    expect(harness.actions).toEqual(['server.disable http begun']);
    expect(harness.desired.current.get('http')?.enabled).toBe(false);
  });
});

describe('ProjectAdmin', () => {
  it('stores projects of known servers only', async () => {
    const harness = new AdminHarness({ ...config, projects: { old: { servers: ['http'] } } });
    const { created, etag } = await harness.projects.put(harness.caller(), 'new', {
      servers: ['http', 'stdio'],
    });
    expect(created).toBe(true);
    expect(
      await harness.projects.put(harness.caller(etag), 'new', { servers: ['http', 'stdio'] }),
    ).toMatchObject({
      created: false,
      etag,
    });
    expect(harness.state.current.revision).toBe(1);
    expect(await kindOf(harness.projects.put(harness.caller(), 'x', { servers: ['none'] }))).toBe(
      'invalid-input',
    );
    expect(await kindOf(harness.projects.put(harness.caller(), 'constructor', { servers: [] }))).toBe(
      'invalid-input',
    );
    expect(await kindOf(harness.projects.put(harness.caller('"x"'), 'new', { servers: [] }))).toBe(
      'precondition-failed',
    );
    await harness.projects.remove(harness.caller(), 'new');
    await harness.projects.remove(harness.caller(), 'old');
    expect([...harness.state.current.projects]).toEqual([['old', { removed: true }]]);
    expect(await kindOf(harness.projects.remove(harness.caller(), 'old'))).toBe('not-found');
  });
});

describe('SecretRedactor', () => {
  it('redacts values of headers and environments, also without their authentication scheme', async () => {
    const servers = {
      a: { url, headers: { Authorization: 'Bearer token-1234567', 'x-mode': 'production' } },
      b: { command: 'x', env: { KEY: 'key-7654321', SHORT: 'abc' } },
    };
    const harness = new AdminHarness({ mcpServers: servers });
    const text = 'token-1234567 key-7654321 production abc a-token-of-the-admin';
    const redacted = '[redacted] [redacted] production abc [redacted]';
    expect(harness.secrets.redact({ [text]: [text, 1, null] })).toEqual({ [redacted]: [redacted, 1, null] });
    const published: number[] = [];
    harness.secrets.onChange((all) => published.push(all.length));
    await harness.servers.put(harness.caller(), 'c', { url, headers: { 'x-key': 'another-secret-1' } });
    await harness.servers.remove(harness.caller(), 'c');
    expect(published).toHaveLength(1);
    expect(harness.secrets.redact('another-secret-1')).toBe('[redacted]');
  });

  it('collects a new secret before any other listener of the desired servers is called', async () => {
    const { state, live, desired } = new AdminHarness();
    const redacted: unknown[] = [];
    desired.onChange(() => redacted.push(redactor.redact('another-secret-1')));
    const redactor = new SecretRedactor(live, new AdminTokens('a-token-of-the-admin'), desired);
    const definition = { url, headers: { 'x-key': 'another-secret-1' } };
    await state.update((decisions) => ({ ...decisions, servers: new Map([['c', { definition }]]) }));
    expect(redacted).toEqual(['[redacted]']);
  });

  it.each([
    'http://169.254.169.254/mcp',
    'http://[::ffff:169.254.169.254]/',
    'http://127.0.0.1:9/',
    'http://localhost:9/',
  ])('refuses a server at %s by policy, in PUT and PATCH', async (address) => {
    const remote = new AdminHarness({
      http: { host: '0.0.0.0', allowRemoteWithoutAuth: true },
      mcpServers: { api: { url: 'http://api.invalid/' }, near: { url: 'http://127.0.0.1:9/' } },
    });
    const refused = { kind: 'address-not-allowed', message: 'refused by policy' };
    await expect(remote.servers.put(remote.caller(), 'new', { url: address })).rejects.toMatchObject(refused);
    await expect(remote.servers.patch(remote.caller(), 'api', { url: address })).rejects.toMatchObject(
      refused,
    );
  });

  it('accepts a change of a server whose URL the configuration has, and a name that is not resolved', async () => {
    const remote = new AdminHarness({
      http: { host: '0.0.0.0', allowRemoteWithoutAuth: true },
      mcpServers: { near: { url: 'http://127.0.0.1:9/' } },
    });
    await remote.servers.patch(remote.caller(), 'near', { concurrency: 3 });
    await remote.servers.put(remote.caller(), 'near', { url: 'http://127.0.0.1:9/', concurrency: 4 });
    await remote.servers.put(remote.caller(), 'new', { url: 'http://name.invalid/' });
    const isUrlFromApi = (id: string): boolean => remote.desired.current.get(id)!.isUrlFromApi;
    expect(['near', 'new'].map(isUrlFromApi)).toEqual([false, true]);
  });
});
