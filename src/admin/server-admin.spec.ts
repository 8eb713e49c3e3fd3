import { Logger } from '@nestjs/common';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { AdminHarness } from '../../test/kit/admin-harness.js';
import { configOf } from '../../test/kit/config.js';
import { outcomeOf, settled } from '../../test/kit/fake-link.js';
import { deferred } from '../../test/kit/until.js';
import type { AdminProblem } from './admin-problem.js';
import { AdminToken } from './admin-token.js';
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
    const room = new AdminHarness(config);
    const first = await room.servers.setEnabled(room.caller(), 'http', false);
    const second = await room.servers.setEnabled(room.caller(), 'http', false);
    expect(second).toEqual(first);
    expect(room.state.current.revision).toBe(1);
    expect(room.actions).toEqual(['server.disable http begun', 'server.disable http done']);
    await room.servers.setEnabled(room.caller(), 'http', true);
    expect(room.desired.current.get('http')?.enabled).toBe(true);
  });

  it('stores nothing when nothing changes', async () => {
    const room = new AdminHarness(config);
    await room.servers.setEnabled(room.caller(), 'http', true);
    await room.servers.put(room.caller(), 'http', { url });
    await room.servers.patch(room.caller(), 'http', {});
    expect([room.state.current.revision, room.actions]).toEqual([0, []]);
    expect(room.servers.show('http').server.origin).toBe('config');
  });

  it('replaces earlier decisions by a new definition', async () => {
    const room = new AdminHarness(config);
    room.listings.set('http', ['a', 'b']);
    await room.servers.setTool(room.caller(), 'http', 'a', false);
    await room.servers.setEnabled(room.caller(), 'http', false);
    const { server, created } = await room.servers.put(room.caller(), 'http', { url, timeoutMs: 5 });
    expect(created).toBe(false);
    expect(server).toMatchObject({ enabled: true, counts: { tools: 2, disabledTools: 0 } });
    expect(room.entries.at(-2)?.change).toEqual({
      changed: ['enabled', 'timeoutMs', 'tools'],
      transport: 'http',
    });
  });

  it('keeps earlier decisions when a patch changes the definition', async () => {
    const room = new AdminHarness(config);
    room.listings.set('http', ['a', 'b']);
    await room.servers.setTool(room.caller(), 'http', 'a', false);
    const { server } = await room.servers.patch(room.caller(), 'http', { queue: 3 });
    expect(server).toMatchObject({ counts: { disabledTools: 1 }, definition: { queue: 3 } });
  });

  it('deletes an added server entirely and marks a configured one as removed', async () => {
    const room = new AdminHarness(config);
    await room.servers.put(room.caller(), 'added', { url });
    await room.servers.remove(room.caller(), 'added');
    await room.servers.remove(room.caller(), 'http');
    expect([...room.state.current.servers]).toEqual([['http', { removed: true }]]);
    expect(await kindOf(room.servers.remove(room.caller(), 'http'))).toBe('not-found');
    const { created } = await room.servers.put(room.caller(), 'http', { url });
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
    const room = new AdminHarness(config);
    expect(await kindOf(room.servers.put(room.caller(), id, { ...definition }))).toBe(kind);
    const allowing = new AdminHarness(config, { allowStdio: true });
    expect(await kindOf(allowing.servers.put(allowing.caller(), id, { ...definition }))).toBe('done');
  });

  it('accepts the configured command of a deleted server', async () => {
    const room = new AdminHarness(config);
    await room.servers.remove(room.caller(), 'stdio');
    const back = room.servers.put(room.caller(), 'stdio', { command: 'node', args: ['x'] });
    expect(await kindOf(back)).toBe('done');
  });

  it('enables a deleted server with its present configuration and without earlier decisions', async () => {
    const room = new AdminHarness(config);
    room.listings.set('stdio', ['a']);
    await room.servers.setTool(room.caller(), 'stdio', 'a', false);
    await room.servers.remove(room.caller(), 'stdio');
    const mcpServers = { stdio: { command: 'node', args: ['y'], enabled: false } };
    room.live.replace(configOf({ mcpServers }));
    const { server } = await room.servers.setEnabled(room.caller(), 'stdio', true);
    expect(server).toMatchObject({
      enabled: true,
      origin: 'config',
      definition: { args: ['y'] },
      counts: { disabledTools: 0 },
    });
    expect(room.actions.slice(-2)).toEqual(['server.enable stdio begun', 'server.enable stdio done']);
    await room.servers.setEnabled(room.caller(), 'stdio', true);
    expect(room.actions).toHaveLength(6);
  });

  it('refuses to enable an unknown server, and every other action on a deleted one', async () => {
    const room = new AdminHarness(config);
    await room.servers.put(room.caller(), 'added', { url });
    await room.servers.remove(room.caller(), 'added');
    const { etag } = room.servers.show('http');
    await room.servers.remove(room.caller(), 'http');
    const set = (id: string, on: boolean, ifMatch?: string): Promise<string> =>
      kindOf(room.servers.setEnabled(room.caller(ifMatch), id, on));
    expect([await set('added', true), await set('http', false)]).toEqual(['not-found', 'not-found']);
    expect(await set('http', true, etag)).toBe('precondition-failed');
    room.live.replace(configOf({}));
    expect(await set('http', true)).toBe('not-found');
  });

  it('requires the version of If-Match', async () => {
    const room = new AdminHarness(config);
    const { etag } = room.servers.show('http');
    const next = await room.servers.setEnabled(room.caller(etag), 'http', false);
    expect(next.etag).not.toBe(etag);
    expect(await kindOf(room.servers.setEnabled(room.caller(etag), 'http', true))).toBe(
      'precondition-failed',
    );
    expect(await kindOf(room.servers.remove(room.caller(etag), 'http'))).toBe('precondition-failed');
    expect(await kindOf(room.servers.patch(room.caller(etag), 'http', {}))).toBe('precondition-failed');
    expect(await kindOf(room.servers.put(room.caller(etag), 'new', { url }))).toBe('precondition-failed');
  });

  it('lets one of two concurrent changes with the same If-Match succeed', async () => {
    const room = new AdminHarness(config);
    const { etag } = room.servers.show('http');
    const kinds = await Promise.all(
      [1, 2, 3].map((queue) => kindOf(room.servers.patch(room.caller(etag), 'http', { queue }))),
    );
    expect(kinds.toSorted()).toEqual(['done', 'precondition-failed', 'precondition-failed']);
  });

  it('switches listed and disabled tools only', async () => {
    const room = new AdminHarness(config);
    const set = (tool: string, on: boolean): Promise<string> =>
      kindOf(room.servers.setTool(room.caller(), 'http', tool, on));
    expect(await set('a', false)).toBe('conflict');
    room.listings.set('http', ['a', '__proto__']);
    expect([await set('a', false), await set('__proto__', false)]).toEqual(['done', 'done']);
    expect([...room.desired.current.get('http')!.disabledTools]).toEqual(['a', '__proto__']);
    expect([await set('b', false), await set('constructor', false)]).toEqual(['not-found', 'not-found']);
    room.listings.delete('http');
    expect(await set('a', true)).toBe('done');
    expect(await kindOf(room.servers.setTool(room.caller(), 'none', 'a', true))).toBe('not-found');
  });

  it('answers a reconnect after the first sync', async () => {
    const room = new AdminHarness(config);
    const answer = outcomeOf(room.servers.reconnect(room.caller(), 'http'));
    const settling = deferred();
    room.settling = settling.promise;
    await settled();
    expect([room.actions.at(-1), answer]).toEqual(['server.reconnect http done', {}]);
    settling.resolve();
    await settled();
    expect(answer.value?.server.id).toBe('http');
  });

  it('reconnects only enabled servers', async () => {
    const room = new AdminHarness(config);
    expect(await kindOf(room.servers.reconnect(room.caller(), 'http'))).toBe('done');
    await room.servers.setEnabled(room.caller(), 'http', false);
    expect(await kindOf(room.servers.reconnect(room.caller(), 'http'))).toBe('conflict');
  });
});

describe('AdminActions', () => {
  it('does not apply a change that cannot be recorded', async () => {
    const room = new AdminHarness(config);
    room.auditIsBroken = true;
    expect(await kindOf(room.servers.setEnabled(room.caller(), 'http', false))).toBe('storage-unavailable');
    expect(room.state.current.revision).toBe(0);
    expect(room.desired.current.get('http')?.enabled).toBe(true);
  });

  it('records a change that cannot be stored as failed', async () => {
    const room = new AdminHarness(config);
    room.state.isBroken = true;
    expect(await kindOf(room.servers.setEnabled(room.caller(), 'http', false))).toBe('storage-unavailable');
    expect(room.actions).toEqual(['server.disable http begun', 'server.disable http failed']);
    expect(room.desired.current.get('http')?.enabled).toBe(true);
    room.state.isBroken = false;
    expect(await kindOf(room.servers.setEnabled(room.caller(), 'http', false))).toBe('done');
  });

  it('keeps a change whose outcome cannot be recorded', async () => {
    const room = new AdminHarness(config);
    room.state.onChange(() => (room.auditIsBroken = true));
    expect(await kindOf(room.servers.setEnabled(room.caller(), 'http', false))).toBe('done');
    expect(room.actions).toEqual(['server.disable http begun']);
    expect(room.desired.current.get('http')?.enabled).toBe(false);
  });
});

describe('ProjectAdmin', () => {
  it('stores projects of known servers only', async () => {
    const room = new AdminHarness({ ...config, projects: { old: { servers: ['http'] } } });
    const { created, etag } = await room.projects.put(room.caller(), 'new', { servers: ['http', 'stdio'] });
    expect(created).toBe(true);
    expect(await room.projects.put(room.caller(etag), 'new', { servers: ['http', 'stdio'] })).toMatchObject({
      created: false,
      etag,
    });
    expect(room.state.current.revision).toBe(1);
    expect(await kindOf(room.projects.put(room.caller(), 'x', { servers: ['none'] }))).toBe('invalid-input');
    expect(await kindOf(room.projects.put(room.caller(), 'constructor', { servers: [] }))).toBe(
      'invalid-input',
    );
    expect(await kindOf(room.projects.put(room.caller('"x"'), 'new', { servers: [] }))).toBe(
      'precondition-failed',
    );
    await room.projects.remove(room.caller(), 'new');
    await room.projects.remove(room.caller(), 'old');
    expect([...room.state.current.projects]).toEqual([['old', { removed: true }]]);
    expect(await kindOf(room.projects.remove(room.caller(), 'old'))).toBe('not-found');
  });
});

describe('SecretRedactor', () => {
  it('redacts values of headers and environments, also without their scheme', async () => {
    const servers = {
      a: { url, headers: { Authorization: 'Bearer token-1234567', 'x-mode': 'production' } },
      b: { command: 'x', env: { KEY: 'key-7654321', SHORT: 'abc' } },
    };
    const room = new AdminHarness({ mcpServers: servers });
    const text = 'token-1234567 key-7654321 production abc a-token-of-the-admin';
    const clean = '[redacted] [redacted] production abc [redacted]';
    expect(room.secrets.redact({ [text]: [text, 1, null] })).toEqual({ [clean]: [clean, 1, null] });
    const told: number[] = [];
    room.secrets.onChange((all) => told.push(all.length));
    await room.servers.put(room.caller(), 'c', { url, headers: { k: 'another-secret-1' } });
    await room.servers.remove(room.caller(), 'c');
    expect(told).toHaveLength(1);
    expect(room.secrets.redact('another-secret-1')).toBe('[redacted]');
  });

  it('knows a new secret before any other listener of the desired servers is called', async () => {
    const { state, live, desired } = new AdminHarness();
    const seen: unknown[] = [];
    desired.onChange(() => seen.push(later.redact('another-secret-1')));
    const later = new SecretRedactor(live, new AdminToken('a-token-of-the-admin'), desired);
    const definition = { url, headers: { k: 'another-secret-1' } };
    await state.update((decisions) => ({ ...decisions, servers: new Map([['c', { definition }]]) }));
    expect(seen).toEqual(['[redacted]']);
  });
});
