import { writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { launchGateway, startGateway, writeConfig, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { deferred, until, within } from '../kit/until.js';

interface Health {
  readonly http: number;
  readonly status: string;
  readonly details: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly text: string;
}

async function health(gateway: Gateway, path = ''): Promise<Health> {
  const answer = await exchange(gateway.urlOf(`/health${path}`));
  const body = JSON.parse(answer.text) as Pick<Health, 'status' | 'details'>;
  return { ...body, http: answer.status, text: answer.text };
}

const untilHealth = (gateway: Gateway, path: string, http: number, status: string): Promise<Health> =>
  until(`${path} is ${http} ${status}`, async () => {
    const now = await health(gateway, path);
    return now.http === http && now.status === status && now;
  });

const exitingServer = { command: 'false', env: { TOKEN: '${SECRET_TOKEN}' } };

describe('health', () => {
  it('is ok with every server up', async () => {
    const server = await ScriptedServer.start();
    const gateway = await startGateway({ mcpServers: { one: server.stdio(), two: server.http } });
    const { details } = await untilHealth(gateway, '', 200, 'ok');
    expect(details).toMatchObject({
      accepting: { status: 'up' },
      'server:one': { status: 'up', state: 'ready', since: expect.stringMatching(/^20.*Z$/) },
      'server:two': { status: 'up', state: 'ready' },
      eventLoop: { status: 'up', p99Ms: expect.any(Number) },
      memory: { status: 'up', rssBytes: expect.any(Number), heapUsedBytes: expect.any(Number) },
      config: { status: 'up' },
    });
    // A server is up before its first listing is synced.
    for (const path of ['/startup', '/ready', '/live'])
      expect(await untilHealth(gateway, path, 200, 'ok')).toBeDefined();
  });

  it('is degraded with a server that exits, and reports its state and reason; the gateway stays ready', async () => {
    const server = await ScriptedServer.start();
    const gateway = await startGateway(
      { mcpServers: { fine: server.stdio(), broken: exitingServer } },
      { SECRET_TOKEN: 'a-secret-value' },
    );
    await gateway.logged({ server: 'broken', message: 'server is retrying' });
    await gateway.listed({ tools: [] });
    const whole = await until('the reason is known', async () => {
      const now = await health(gateway);
      return (
        now.details['server:fine']?.['state'] === 'ready' &&
        now.details['server:broken']?.['reason'] !== undefined &&
        now
      );
    });
    expect(whole).toMatchObject({ http: 200, status: 'degraded' });
    expect(whole.details['server:broken']).toMatchObject({ status: 'degraded', reason: expect.any(String) });
    expect(whole.text).not.toContain('a-secret-value');
    expect(await untilHealth(gateway, '/startup', 200, 'ok')).toBeDefined();
    expect(await health(gateway, '/ready')).toMatchObject({ http: 200, status: 'degraded' });
    expect(await health(gateway, '/live')).toMatchObject({ http: 200, status: 'ok' });
  });

  it('contains no server, version or number on the public paths', async () => {
    const gateway = await startGateway({ mcpServers: { topsecret: { command: 'false' } } });
    for (const path of ['/live', '/ready', '/startup']) {
      const { text: body } = await health(gateway, path);
      expect(body).not.toMatch(/topsecret|\d/);
    }
  });

  it('is degraded after a refused configuration, and names the problem', async () => {
    const file = writeConfig({});
    const gateway = launchGateway(['--config', file]);
    await gateway.listening();
    writeFileSync(file, '{ "unknownKey": 1 }');
    const { details } = await untilHealth(gateway, '', 200, 'degraded');
    expect(details['config']).toMatchObject({
      status: 'degraded',
      problem: expect.stringContaining('unknownKey'),
    });
    expect(await health(gateway, '/ready')).toMatchObject({ http: 200, status: 'ok' });
  });

  it('is neither started nor ready while a server has neither been listed nor failed', async () => {
    const server = await ScriptedServer.start();
    const initializeResult = deferred<object>();
    server.tool('t', () => text('x')).on('initialize', () => initializeResult.promise);
    const gateway = await startGateway({ mcpServers: { slow: server.stdio() } });
    await server.untilReceived('initialize');
    expect(await health(gateway, '/startup')).toMatchObject({ http: 503, status: 'error' });
    expect(await health(gateway, '/ready')).toMatchObject({ http: 503, status: 'error' });
    const session = await RawSession.open(gateway.url);
    initializeResult.resolve({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 's', version: '1' },
    });
    await untilHealth(gateway, '/ready', 200, 'ok');
    expect((await session.list('tools')).map(({ name }) => name)).toEqual(['slow__t']);
    await untilHealth(gateway, '/startup', 200, 'ok');
    // Startup is final: later failures of a server do not change it.
    await gateway.logged({ server: 'slow', message: 'server is ready' });
    server.on('initialize', () => undefined);
    process.kill(server.link.pid!, 'SIGKILL');
    await untilHealth(gateway, '/ready', 200, 'degraded');
    expect(await health(gateway, '/startup')).toMatchObject({ http: 200, status: 'ok' });
  });

  it('is not ready before the required servers were connected, and stays ready when they are lost later', async () => {
    const server = await ScriptedServer.start();
    await server.goDown();
    const gateway = await startGateway({
      mcpServers: { needed: server.http, other: { command: 'false' } },
      readiness: { requireServers: ['needed'] },
    });
    const waiting = await health(gateway, '/ready');
    expect(waiting).toMatchObject({ http: 503, status: 'error' });
    expect(waiting.text).not.toContain('needed');
    expect(await health(gateway, '/live')).toMatchObject({ http: 200 });
    await server.goUp();
    await untilHealth(gateway, '/ready', 200, 'degraded');
    const mark = gateway.logs.length;
    await server.goDown();
    await gateway.logged({ server: 'needed', message: 'server is retrying' }, mark);
    expect(await health(gateway, '/ready')).toMatchObject({ http: 200, status: 'degraded' });
  });

  it('is not ready while it drains, but alive', async () => {
    const server = await ScriptedServer.start();
    const end = deferred();
    server.tool('wait', async () => {
      await end.promise;
      return text('done');
    });
    const gateway = await startGateway({ mcpServers: { s: server.stdio() } });
    await gateway.listed({ tools: ['s'] });
    const session = await RawSession.open(gateway.url);
    const call = session.callTool('s__wait');
    await server.untilReceived('tools/call');
    gateway.signal('SIGTERM');
    await untilHealth(gateway, '/ready', 503, 'shutting_down');
    expect(await health(gateway)).toMatchObject({ http: 503 });
    expect(await health(gateway, '/live')).toMatchObject({ http: 200, status: 'ok' });
    expect((await exchange(gateway.urlOf('/metrics'))).status).toBe(200);
    end.resolve();
    expect((await call).result).toEqual(text('done'));
    expect((await within('the gateway to exit', gateway.exited)).code).toBe(0);
  });
});

describe('the start page', () => {
  const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

  it('is the answer to GET / and to the GET /mcp of a browser, with the servers for local requests only', async () => {
    const server = await ScriptedServer.start();
    const gateway = await startGateway({
      mcpServers: { one: server.http },
      projects: { p: { servers: ['one'] }, empty: { servers: [] } },
    });
    await untilHealth(gateway, '', 200, 'ok');
    for (const [id, words] of [
      ['empty', 'No server of this project is enabled'],
      ['none', 'There is no such project'],
    ] as const) {
      const { text: page } = await exchange(gateway.urlOf(`/projects/${id}/mcp`), { headers: HTML });
      expect(page).toContain(words);
      expect(page).not.toContain('<td>');
    }
    for (const path of ['/', '/mcp', '/projects/p/mcp']) {
      const { status, headers, text: page } = await exchange(gateway.urlOf(path), { headers: HTML });
      expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
      expect(page).toContain(gateway.urlOf(path === '/' ? '/mcp' : path));
      expect(page).toMatch(/1 of 1 servers ready[\s\S]*<td>one<\/td>/);
    }
    const fromAfar = { ...HTML, 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' };
    const unknown = await exchange(gateway.urlOf('/projects/none/mcp'), { headers: fromAfar });
    expect(unknown.text).not.toContain('such project');
    const remote = await exchange(gateway.urlOf('/'), { headers: fromAfar });
    expect(remote.status).toBe(200);
    expect(remote.text).not.toContain('one');
    expect(remote.text).toContain(gateway.url.replace('http:', 'https:'));
    const foreign = { headers: { ...HTML, host: 'evil.example' } };
    expect((await exchange(gateway.urlOf('/'), foreign)).status).toBe(403);
    // An MCP client still gets the error of the protocol.
    const stream = { headers: { accept: 'text/event-stream' } };
    expect((await exchange(gateway.url, stream)).status).toBe(405);
  });
});
