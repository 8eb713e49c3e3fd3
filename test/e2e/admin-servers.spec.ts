import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import type { Events } from '../kit/events.js';
import { launchGateway, startGateway, writeConfig, type Gateway } from '../kit/gateway.js';
import { RawSession } from '../kit/raw-session.js';
import { everythingOverStdio, startEverything } from '../kit/real-servers.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { auditOf } from '../kit/state-audit.js';
import { tempDir } from '../kit/temp-dir.js';
import { until } from '../kit/until.js';

const TOOLS_CHANGED = 'notifications/tools/list_changed';
const admin = { token: ADMIN_TOKEN };

/** Disables a real server during 50 calls, and lists and calls its tools right after the response. */
async function disableDuringCalls() {
  const remote = await startEverything('streamableHttp');
  const gateway = await startGateway({
    admin,
    mcpServers: { everything: { url: remote.url, concurrency: 50 } },
  });
  await gateway.listed({ tools: ['everything'] });
  const client = new AdminClient(gateway);
  const session = await RawSession.open(gateway.url);
  const stream = await session.listen();
  const work = { duration: 6, steps: 2 };
  const running = Array.from({ length: 50 }, () =>
    session.callTool('everything__trigger-long-running-operation', work),
  );
  await until(
    'all are in flight',
    async () => (await client.get('servers/everything')).json['inFlight'] === 50,
  );
  const started = Date.now();
  await client.post('servers/everything/disable');
  const tookMs = Date.now() - started;
  const listed = await session.list('tools');
  const late = await session.callTool('everything__echo', { message: 'late' });
  await until('the client was notified', () => stream.count(TOOLS_CHANGED) === 1);
  return { answers: Promise.all(running), tookMs, listed, late, stream };
}

let duringCalls: Awaited<ReturnType<typeof disableDuringCalls>>;

// Its calls take seconds, in which the other tests run.
beforeAll(async () => {
  duringCalls = await disableDuringCalls();
});

describe('enabling and disabling servers and tools', () => {
  const stateDir = join(tempDir(), 'state');
  let alpha: ScriptedServer;
  let beta: ScriptedServer;
  let gateway: Gateway;
  let client: AdminClient;
  let inside: Events;
  let outside: Events;
  let session: RawSession;

  beforeAll(async () => {
    [alpha, beta] = await Promise.all([ScriptedServer.start(), ScriptedServer.start()]);
    alpha.tool('one', () => text('1')).tool('a/b c', () => text('2'));
    beta.tool('other', () => text('3'));
    gateway = await startGateway({
      stateDir,
      admin,
      mcpServers: { alpha: alpha.http, beta: beta.stdio() },
      projects: { other: { servers: ['beta'] } },
    });
    await gateway.listed({ tools: ['alpha', 'beta'] });
    client = new AdminClient(gateway);
    session = await RawSession.open(gateway.url);
    inside = await session.listen();
    outside = await (await RawSession.open(gateway.urlOf('/projects/other/mcp'))).listen();
  });

  const names = async (): Promise<string[]> => (await session.list('tools')).map(({ name }) => name);

  /** Notifications arrive in order: when the list change of prompts arrives, all earlier notifications have arrived. */
  async function drainNotifications(): Promise<void> {
    const before = [inside, outside].map((stream) => stream.count('notifications/prompts/list_changed'));
    beta.prompt(`p${before.join('-')}`, () => ({ messages: [] }));
    beta.broadcast('notifications/prompts/list_changed');
    await until('both clients were notified', () =>
      [inside, outside].every(
        (stream, index) => stream.count('notifications/prompts/list_changed') > before[index]!,
      ),
    );
  }

  it('lists every server with its state', async () => {
    const { status, json } = await client.get('servers');
    expect(status).toBe(200);
    expect(json['servers']).toEqual([
      expect.objectContaining({
        id: 'alpha',
        enabled: true,
        state: 'ready',
        transport: 'http',
        origin: 'config',
        restarts: 0,
        calls: 0,
        inFlight: 0,
        waiting: 0,
        serverInfo: { name: 'scripted', version: '1' },
        protocolVersion: '2025-11-25',
        counts: { tools: 2, disabledTools: 0, prompts: 0, resources: 0, templates: 0 },
      }),
      expect.objectContaining({ id: 'beta', transport: 'stdio', pid: expect.any(Number) }),
    ]);
  });

  it('disables a server: removed from lists and routing before the response, with one list_changed per client', async () => {
    const [seen, unseen] = [inside.count(TOOLS_CHANGED), outside.count(TOOLS_CHANGED)];
    const entries = auditOf(stateDir).length;
    const first = await client.post('servers/alpha/disable');
    expect(first).toMatchObject({ status: 200, json: { id: 'alpha', enabled: false, state: 'disabled' } });
    expect(await names()).toEqual(['beta__other']);
    expect((await session.callTool('alpha__one')).error).toMatchObject({ code: -32602 });
    const second = await client.post('servers/alpha/disable');
    expect(second).toMatchObject({ status: 200, json: first.json });
    expect(second.headers.etag).toBe(first.headers.etag);
    await drainNotifications();
    expect(inside.count(TOOLS_CHANGED)).toBe(seen + 1);
    expect(outside.count(TOOLS_CHANGED)).toBe(unseen);
    expect(auditOf(stateDir).slice(entries)).toEqual([
      expect.objectContaining({
        actor: 'admin',
        action: 'server.disable',
        target: 'alpha',
        outcome: 'begun',
      }),
      expect.objectContaining({ actor: 'admin', action: 'server.disable', target: 'alpha', outcome: 'done' }),
    ]);
  });

  it('enables it again: in lists and routing before the response, with one list_changed per client', async () => {
    const [seen, unseen] = [inside.count(TOOLS_CHANGED), outside.count(TOOLS_CHANGED)];
    const answer = await client.post('servers/alpha/enable');
    expect(answer).toMatchObject({ status: 200, json: { enabled: true, state: 'ready' } });
    expect(await names()).toEqual([expect.stringMatching(/^alpha__a/), 'alpha__one', 'beta__other']);
    expect((await session.callTool('alpha__one')).result).toEqual(text('1'));
    await drainNotifications();
    expect(inside.count(TOOLS_CHANGED)).toBe(seen + 1);
    expect(outside.count(TOOLS_CHANGED)).toBe(unseen);
  });

  it('disables and enables a tool with any name', async () => {
    const seen = inside.count(TOOLS_CHANGED);
    const path = `servers/alpha/tools/${encodeURIComponent('a/b c')}`;
    const off = await client.post(`${path}/disable`);
    expect(off).toMatchObject({ status: 200, json: { counts: { tools: 1, disabledTools: 1 } } });
    expect(await names()).toEqual(['alpha__one', 'beta__other']);
    expect((await session.callTool('alpha__a/b c')).error).toMatchObject({ code: -32602 });
    expect((await client.get('servers/alpha/tools')).json).toEqual({
      tools: [
        { ownName: 'one', own: 'one', name: 'alpha__one', enabled: true, origin: 'config' },
        {
          ownName: 'a/b c',
          own: 'a/b c',
          enabled: false,
          origin: 'admin',
          decision: expect.objectContaining({ change: 'disabled', by: 'admin', overrules: true }),
          definition: { name: 'a/b c', inputSchema: { type: 'object' } },
        },
      ],
    });
    await client.post(`${path}/disable`);
    await drainNotifications();
    expect(inside.count(TOOLS_CHANGED)).toBe(seen + 1);
    await client.post(`${path}/enable`);
    expect(await names()).toHaveLength(3);
    await drainNotifications();
    expect(inside.count(TOOLS_CHANGED)).toBe(seen + 2);
  });

  it('reconnects a server unless it is disabled', async () => {
    const before = alpha.countOf('initialize');
    expect(await client.post('servers/alpha/reconnect')).toMatchObject({
      status: 200,
      json: { state: 'ready' },
    });
    expect(alpha.countOf('initialize')).toBe(before + 1);
    await client.post('servers/alpha/disable');
    expect(await client.post('servers/alpha/reconnect')).toMatchObject({
      status: 409,
      json: { type: 'urn:gatehouse:problem:conflict' },
    });
    await client.post('servers/alpha/enable');
  });

  it('keeps decisions over a restart without changing the configuration file', async () => {
    await client.post('servers/alpha/disable');
    await client.post('servers/beta/tools/other/disable');
    const etag = (await client.get('servers/alpha')).headers.etag;
    await gateway.stop();
    const again = await startGateway({
      stateDir,
      admin,
      mcpServers: { alpha: alpha.http, beta: beta.stdio() },
    });
    const after = new AdminClient(again);
    await until('beta is ready', async () => (await after.get('servers/beta')).json['state'] === 'ready');
    expect(await after.get('servers/alpha')).toMatchObject({
      headers: { etag },
      json: { enabled: false, state: 'disabled' },
    });
    const counts = await until('beta is listed', async () => {
      const found = (await after.get('servers/beta')).json['counts'] as { disabledTools: number };
      return found.disabledTools > 0 && found;
    });
    expect(counts).toMatchObject({ tools: 0, disabledTools: 1 });
    const fresh = await RawSession.open(again.url);
    expect(await fresh.list('tools')).toEqual([]);
    await after.post('servers/alpha/enable');
    expect((await fresh.list('tools')).map(({ name }) => name)).toContain('alpha__one');
  });
});

describe('defining servers', () => {
  let server: ScriptedServer;
  let gateway: Gateway;
  let client: AdminClient;

  beforeAll(async () => {
    server = (await ScriptedServer.start()).tool('one', () => text('1'));
    gateway = await startGateway({ admin, mcpServers: { fixed: server.stdio() } });
    client = new AdminClient(gateway);
  });

  it('adds a server that is ready before the response and survives a restart', async () => {
    const config = writeConfig({ admin });
    const first = launchGateway(['--config', config]);
    await first.listening();
    const here = new AdminClient(first);
    const definition = { ...server.http, headers: { 'x-key': 'canary-of-a-header' }, timeoutMs: 5000 };
    const made = await here.put('servers/added', definition);
    expect(made).toMatchObject({
      status: 201,
      json: {
        state: 'ready',
        origin: 'admin',
        definition: { headers: { 'x-key': '********' }, timeoutMs: 5000 },
      },
    });
    expect(made.headers.etag).toMatch(/^"[\w-]{22}"$/);
    const session = await RawSession.open(first.url);
    expect((await session.callTool('added__one')).result).toEqual(text('1'));
    expect((await here.put('servers/added', definition)).status).toBe(200);
    await first.stop();
    const second = launchGateway(['--config', config]);
    await second.listening();
    await second.listed({ tools: ['added'] });
    const there = new AdminClient(second);
    expect(await there.put('servers/added', definition, { 'if-match': made.headers.etag! })).toMatchObject({
      status: 200,
      headers: { etag: made.headers.etag },
    });
    expect((await there.delete('servers/added')).status).toBe(204);
    expect((await there.get('servers/added')).status).toBe(404);
    expect((await there.delete('servers/added')).status).toBe(404);
  });

  it('patches a definition and keeps masked values', async () => {
    await client.put('servers/part', { ...server.http, headers: { 'x-key': 'secret-value-1' } });
    const { json } = await client.patch('servers/part', { timeoutMs: 1234, concurrency: null });
    expect(json).toMatchObject({ changed: ['timeoutMs'], definition: { timeoutMs: 1234, concurrency: 64 } });
    expect((await client.patch('servers/part', { queue: 7, timeoutMs: 1234 })).json).toMatchObject({
      changed: ['queue'],
    });
    expect((await client.patch('servers/part', { queue: 7 })).json).toMatchObject({ changed: [] });
    expect((await client.patch('servers/part', { queue: null })).json).toMatchObject({ changed: ['queue'] });
    const shown = json['definition'] as object;
    const before = server.countOf('initialize');
    expect(await client.put('servers/part', shown)).toMatchObject({ status: 200 });
    expect(server.countOf('initialize')).toBe(before);
    const moved = await client.patch('servers/part', { url: 'http://127.0.0.1:9/elsewhere' });
    expect(moved).toMatchObject({
      status: 422,
      json: { errors: [{ field: 'headers.x-key', message: 'must be given again when the url changes' }] },
    });
  });

  it('adds an unreachable server and reports its state', async () => {
    const { status, json } = await client.put('servers/dead', { url: 'http://127.0.0.1:9/mcp' });
    expect(status).toBe(201);
    expect(json).toMatchObject({ state: 'retrying', reason: expect.any(String) });
    await client.delete('servers/dead');
  });

  it('refuses a link-local address by policy, without naming a reason', async () => {
    const { status, json } = await client.put('servers/metadata', { url: 'http://169.254.169.254/latest' });
    expect(status).toBe(403);
    expect(json).toEqual({
      type: 'urn:gatehouse:problem:address-not-allowed',
      title: 'Address refused by policy',
      status: 403,
      detail: 'refused by policy',
      requestId: json['requestId'],
    });
    expect((await client.get('servers/metadata')).status).toBe(404);
    const { text: metrics } = await client.get('/metrics');
    expect(metrics).toContain('gatehouse_address_refusals_total{at="change"} 1\n');
  });

  it('refuses commands and starts none', async () => {
    const mark = join(tempDir(), 'mark');
    const touch = { command: '/usr/bin/touch', args: [mark] };
    const refused = { status: 403, json: { type: 'urn:gatehouse:problem:stdio-not-allowed' } };
    expect(await client.put('servers/sh', touch)).toMatchObject(refused);
    expect(await client.put('servers/fixed', touch)).toMatchObject(refused);
    expect(await client.patch('servers/fixed', { args: ['-e', '1'] })).toMatchObject(refused);
    expect(await client.patch('servers/fixed', { env: { NODE_OPTIONS: '--x' } })).toMatchObject(refused);
    expect(await client.patch('servers/fixed', { cwd: '/' })).toMatchObject(refused);
    expect((await client.get('servers/sh')).status).toBe(404);
    expect(existsSync(mark)).toBe(false);
    expect((await client.patch('servers/fixed', { timeoutMs: 4000 })).status).toBe(200);
    expect((await client.post('servers/fixed/disable')).status).toBe(200);
    expect((await client.post('servers/fixed/enable')).status).toBe(200);
  });

  it('accepts commands with allowStdio', async () => {
    const allowing = await startGateway({ admin: { ...admin, allowStdio: true } });
    const made = await new AdminClient(allowing).put('servers/everything', everythingOverStdio());
    expect(made).toMatchObject({ status: 201, json: { state: 'ready', transport: 'stdio' } });
    const session = await RawSession.open(allowing.url);
    expect((await session.callTool('everything__echo', { message: 'hi' })).result).toBeDefined();
  });

  it('deletes a configured server, also over a reload', async () => {
    await client.put('servers/fixed-too', { ...server.http });
    expect((await client.delete('servers/fixed')).status).toBe(204);
    expect((await client.post('config/reload')).status).toBe(200);
    expect((await client.get('servers/fixed')).status).toBe(404);
  });

  it('enables a deleted configured server, also after a restart', async () => {
    const config = writeConfig({ admin, mcpServers: { fixed: server.stdio() } });
    const first = launchGateway(['--config', config]);
    await first.listening();
    expect((await new AdminClient(first).delete('servers/fixed')).status).toBe(204);
    await first.stop();
    const second = launchGateway(['--config', config]);
    await second.listening();
    const { servers } = await second.logged({
      message:
        'servers of the configuration were deleted through the admin API; enable a server to bring it back',
    });
    expect(servers).toEqual(['fixed']);
    const here = new AdminClient(second);
    expect((await here.get('servers/fixed')).status).toBe(404);
    const back = { state: 'ready', origin: 'config', transport: 'stdio' };
    expect(await here.post('servers/fixed/enable')).toMatchObject({ status: 200, json: back });
    const session = await RawSession.open(second.url);
    expect((await session.callTool('fixed__one')).result).toEqual(text('1'));
  });

  it('serializes concurrent changes', async () => {
    const toggles = Array.from({ length: 20 }, (_, index) =>
      client.post(`servers/fixed-too/${index % 2 === 0 ? 'disable' : 'enable'}`),
    );
    expect((await Promise.all(toggles)).map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect((await client.post('servers/fixed-too/enable')).json).toMatchObject({ state: 'ready' });
  });
});

describe('a server that is disabled while 50 calls are in flight', () => {
  it('finishes them and accepts no more', async () => {
    const { tookMs, listed, late, stream } = duringCalls;
    expect(tookMs).toBeLessThan(5000);
    expect(listed).toEqual([]);
    expect([-32602, -31003]).toContain(late.error?.code);
    const answers = await duringCalls.answers;
    expect(answers.filter(({ result }) => result?.['content'] !== undefined)).toHaveLength(50);
    expect(stream.count(TOOLS_CHANGED)).toBe(1);
  });
});
