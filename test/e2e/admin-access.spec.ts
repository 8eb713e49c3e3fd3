import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  ADMIN_TOKEN,
  AdminClient,
  VIEWER_TOKEN,
  type AdminAnswer,
  type AdminOptions,
} from '../kit/admin-client.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange, type RawResponse } from '../kit/http.js';
import { RawSession } from '../kit/raw-session.js';
import { Scrape } from '../kit/scrape.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { auditOf } from '../kit/state-audit.js';
import { tempDir } from '../kit/temp-dir.js';
import { until } from '../kit/until.js';

const typed = (type: string): AdminOptions => ({ body: 'a=1', headers: { 'content-type': type } });

const idsOf = ({ json }: AdminAnswer): unknown =>
  (json['servers'] as { id: string; enabled: boolean }[]).map(({ id, enabled }) => `${id} ${enabled}`);

describe('the admin token', () => {
  it('is generated once with mode 0600, and only its path is logged', async () => {
    const stateDir = join(tempDir(), 'state');
    const gateway = await startGateway({ stateDir });
    const path = join(stateDir, 'admin-token');
    const token = readFileSync(path, 'utf8').trim();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await gateway.logged({ message: 'an admin token was generated', path });
    expect(JSON.stringify(gateway.logs) + gateway.stdout).not.toContain(token);
    expect((await new AdminClient(gateway, token).get('servers')).status).toBe(200);
    await gateway.stop();
    const again = await startGateway({ stateDir });
    expect(readFileSync(path, 'utf8').trim()).toBe(token);
    expect((await new AdminClient(again, token).get('servers')).status).toBe(200);
  });

  it('is accepted by the admin API only, which accepts no API key', async () => {
    const key = 'client-key-of-the-tests';
    const hash = `sha256:${createHash('sha256').update(key).digest('hex')}`;
    const gateway = await startGateway({
      admin: { token: ADMIN_TOKEN },
      projects: { p: { servers: [] } },
      auth: { apiKeys: [{ id: 'ci', hash, projects: ['p'] }] },
    });
    expect((await new AdminClient(gateway, key).get('servers')).status).toBe(401);
    const asClient = await exchange(gateway.url, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(asClient.status).toBe(401);
  });
});

describe('the admin API', () => {
  const stateDir = join(tempDir(), 'state');
  let gateway: Gateway;
  let admin: AdminClient;
  let server: ScriptedServer;

  beforeAll(async () => {
    server = (await ScriptedServer.start())
      .tool(
        'read',
        () => text('1'),
        '{"name":"read","title":"Reads","description":"a file of notes","inputSchema":{"type":"object"}}',
      )
      .tool('write', () => text('2'))
      .prompt('greet', () => ({ messages: [] }));
    gateway = await startGateway({
      stateDir,
      admin: { token: ADMIN_TOKEN, viewerToken: VIEWER_TOKEN },
      mcpServers: { one: server.http, two: server.http },
      projects: { small: { servers: ['two'], description: 'few' } },
    });
    await gateway.listed({ tools: ['one', 'two'], prompts: ['one', 'two'] });
    admin = new AdminClient(gateway);
  });

  it.each(['servers', 'servers/one', 'tools', 'prompts', 'sessions', 'projects', 'config', 'events'])(
    'answers GET %s with 401 without a valid token',
    async (path) => {
      for (const token of [null, 'x', `${ADMIN_TOKEN}x`, ADMIN_TOKEN.slice(1)]) {
        const { status, headers, json } = await new AdminClient(gateway, token).get(path);
        expect(status).toBe(401);
        expect(headers['www-authenticate']).toBe('Bearer realm="gatehouse-admin"');
        expect(headers['content-type']).toMatch(/^application\/problem\+json/);
        expect(json).toMatchObject({ type: 'urn:gatehouse:problem:unauthorized', status: 401 });
      }
    },
  );

  it('reads the token from the Authorization header only', async () => {
    const headers = {
      'x-forwarded-for': '127.0.0.1',
      'x-admin-token': ADMIN_TOKEN,
      cookie: `token=${ADMIN_TOKEN}`,
    };
    expect((await new AdminClient(gateway, null).get('servers', { headers })).status).toBe(401);
    expect((await new AdminClient(gateway, null).get(`servers?token=${ADMIN_TOKEN}`)).status).toBe(401);
  });

  it.each([{ host: 'evil.example' }, { origin: 'http://evil.example' }])(
    'answers a request with the header %j as a problem',
    async (headers) => {
      const { status, json } = await admin.get('servers', { headers });
      expect([status, json['type']]).toEqual([403, 'urn:gatehouse:problem:forbidden']);
    },
  );

  it('allows viewers to read and not to write', async () => {
    const viewer = new AdminClient(gateway, VIEWER_TOKEN);
    for (const path of ['servers', 'servers/one', 'tools', 'sessions', 'projects', 'config'])
      expect((await viewer.get(path)).status).toBe(200);
    const refused = [
      await viewer.post('servers/one/disable'),
      await viewer.put('servers/new', server.http),
      await viewer.patch('servers/one', {}),
      await viewer.delete('servers/one'),
      await viewer.put('projects/x', { servers: [] }),
      await viewer.post('config/reload'),
    ];
    for (const { status, json } of refused) {
      expect(status).toBe(403);
      expect(json).toMatchObject({ type: 'urn:gatehouse:problem:forbidden' });
    }
    expect((await admin.get('servers/one')).json).toMatchObject({ enabled: true });
  });

  const poisoned = '{"__proto__":{"url":"x"}}';
  const url = 'http://a/';
  /** Status, request, and the fields that are named. */
  const table: [number, string, AdminOptions, string[]][] = [
    [404, 'GET servers/none', {}, []],
    [404, 'POST servers/none/enable', {}, []],
    [404, 'DELETE servers/none', {}, []],
    [404, 'PATCH servers/none', { body: {} }, []],
    [404, 'GET servers/none/tools', {}, []],
    [404, 'POST servers/one/tools/none/disable', {}, []],
    [404, 'POST servers/one/tools/constructor/disable', {}, []],
    [404, 'GET projects/none', {}, []],
    [404, 'DELETE projects/none', {}, []],
    [404, 'DELETE sessions/0000000000000000', {}, []],
    [404, 'GET tools?server=none', {}, []],
    [404, 'GET tools?project=none', {}, []],
    [404, 'GET no-such-thing', {}, []],
    [400, 'PUT servers/new', { body: '{"url":' }, []],
    [400, 'PUT servers/new', { body: poisoned }, []],
    [400, 'PUT servers/new', { body: `{"env":{"\\u005f_proto__":{}}}` }, []],
    [400, 'PUT servers/new', { body: '{"env":{"constructor":{"prototype":{}}}}' }, []],
    [400, 'PUT servers/new', { body: `{"a":${'['.repeat(64)}${']'.repeat(64)}}` }, []],
    [413, 'PUT servers/new', { body: `{"a":"${'x'.repeat(65_536)}"}` }, []],
    [415, 'PUT servers/new', typed('application/x-www-form-urlencoded'), []],
    [415, 'PUT servers/new', typed('text/plain'), []],
    [415, 'PUT servers/new', typed('application/xml'), []],
    [412, 'POST servers/one/disable', { headers: { 'if-match': '"other"' } }, []],
    [412, 'PUT servers/new', { body: { url }, headers: { 'if-match': '*' } }, []],
    [412, 'PUT servers/one', { body: { url }, headers: { 'if-none-match': '*' } }, []],
    [412, 'DELETE projects/small', { headers: { 'if-match': 'W/"x"' } }, []],
    [422, 'PUT servers/new', { body: [] }, ['body']],
    [422, 'PUT servers/new', { body: {} }, ['command']],
    [422, 'PUT servers/-bad', { body: { url } }, ['id']],
    [422, 'PUT servers/new', { body: { url, timeoutMs: 0, colour: 1 } }, ['colour', 'timeoutMs']],
    [422, 'PUT servers/new', { body: { url, headers: { a: '********' } } }, ['headers.a']],
    [422, 'PUT servers/new', { body: { url: 'http://a/${HOME}' } }, ['url']],
    [422, 'PUT projects/new', { body: { servers: ['one', 'none'] } }, ['servers[1]']],
    [422, 'PUT projects/new', { body: { servers: 'one', more: 1 } }, ['more', 'servers']],
    [422, 'PUT projects/-bad', { body: { servers: [] } }, ['id']],
    [422, 'GET tools?limit=0', {}, ['limit']],
    [422, 'GET tools?cursor=abc', {}, ['cursor']],
  ];
  it.each(table)('answers %i to %s %j and changes nothing', async (status, request, options, fields) => {
    const before = idsOf(await admin.get('servers'));
    const recorded = auditOf(stateDir).length;
    const [method = '', path = ''] = request.split(' ');
    const answer = await admin.send(method, path, options);
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    const type = expect.stringMatching(/^urn:gatehouse:problem:/);
    expect(answer.json).toMatchObject({
      type,
      title: expect.any(String),
      status,
      detail: expect.any(String),
    });
    const errors = (answer.json['errors'] ?? []) as { field: string; message: string }[];
    expect([...new Set(errors.map(({ field }) => field))].toSorted()).toEqual(fields);
    expect(idsOf(await admin.get('servers'))).toEqual(before);
    const { requestId, type: name } = answer.json as { requestId: string; type: string };
    const refusal = `refused ${requestId} ${name.split(':').at(-1)}`;
    const entries = auditOf(stateDir).slice(recorded);
    expect(
      entries.map((entry) => `${entry.outcome} ${entry.requestId} ${String(entry.change?.['problem'])}`),
    ).toEqual(method === 'GET' ? [] : [refusal]);
  });

  const guess = (path: string, token = 'guess'): Promise<RawResponse> =>
    exchange(gateway.urlOf(path), {
      headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': '192.0.2.1' },
      localAddress: '127.0.0.9',
    });

  const failures = async (): Promise<number[]> => {
    const scrape = new Scrape((await admin.get('/metrics')).text);
    return ['answered', 'delayed', 'refused'].map((outcome) =>
      scrape.value('gatehouse_admin_auth_failures_total', { outcome })!,
    );
  };

  it('slows down an address that guesses tokens, refuses it with 429, and counts it', async () => {
    const before = await failures();
    const statuses = new Set<number>();
    const guessOften = (): void => {
      for (let n = 0; n < 40; n++)
        void guess('/admin/v1/servers').then(
          ({ status }) => statuses.add(status),
          () => {},
        );
    };
    for (const path of ['/admin/v1/servers', '/metrics', '/health']) {
      const { headers } = await until(`the valid token is refused at ${path}`, async () => {
        guessOften();
        const answer = await guess(path, ADMIN_TOKEN);
        return answer.status === 429 && answer;
      });
      expect(headers['retry-after']).toBe('5');
    }
    expect(statuses).toEqual(new Set([401, 429]));
    const after = await failures();
    const [answered, delayed, refused] = after.map((count, at) => count - before[at]!);
    expect(answered).toBeGreaterThanOrEqual(20);
    expect(delayed).toBeGreaterThanOrEqual(16);
    expect(refused).toBeGreaterThanOrEqual(3);
  });

  it('honours If-Match', async () => {
    const { headers } = await admin.get('servers/one');
    const changed = await admin.post('servers/one/disable', { headers: { 'if-match': headers.etag! } });
    expect(changed.status).toBe(200);
    expect(changed.headers.etag).not.toBe(headers.etag);
    const stale = await admin.post('servers/one/enable', { headers: { 'if-match': headers.etag! } });
    expect(stale.status).toBe(412);
    const back = await admin.post('servers/one/enable', { headers: { 'if-match': changed.headers.etag! } });
    expect(back.headers.etag).toBe(headers.etag);
  });

  it('lists and searches the catalog in pages, without requests to servers', async () => {
    const asked = server.received.length;
    const seen: unknown[] = [];
    for (let cursor = '', more = true; more; more = cursor !== '') {
      const { json } = await admin.get(`tools?limit=1${cursor && `&cursor=${cursor}`}`);
      seen.push(...(json['tools'] as { name: string }[]).map(({ name }) => name));
      cursor = (json['nextCursor'] as string | undefined) ?? '';
    }
    expect(seen).toEqual(['one__read', 'one__write', 'two__read', 'two__write']);
    const namesOf = async (query: string): Promise<unknown> =>
      ((await admin.get(query)).json['tools'] as { name: string }[]).map(({ name }) => name);
    expect(await namesOf('tools?project=small')).toEqual(['two__read', 'two__write']);
    expect(await namesOf('tools?server=one&q=NOTES%20file')).toEqual(['one__read']);
    expect((await admin.get('prompts?server=two')).json).toMatchObject({
      prompts: [{ name: 'two__greet', server: 'two', ownName: 'greet', own: 'greet' }],
    });
    const foreign = (await admin.get('tools?limit=1')).json['nextCursor'] as string;
    expect((await admin.get(`prompts?limit=1&cursor=${foreign}`)).status).toBe(422);
    expect(server.received.length).toBe(asked);
  });

  it('lists sessions without their ids, and closes one', async () => {
    const session = await RawSession.open(gateway.urlOf('/projects/small/mcp'));
    const stream = await session.listen();
    const { json, text: answer } = await admin.get('sessions');
    const shown = (json['sessions'] as { id: string; project?: string }[]).find(
      ({ project }) => project === 'small',
    )!;
    expect(shown).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      client: { name: 'raw', version: '1' },
      principal: 'anonymous',
      protocolVersion: '2025-11-25',
      era: '2025',
      scope: [{ project: 'small', servers: ['two'] }],
      calls: 0,
      subscriptions: 0,
      inFlight: 0,
      streams: 1,
    });
    expect(answer).not.toContain(session.id);
    expect((await admin.delete(`sessions/${shown.id}`)).status).toBe(204);
    await stream.untilEnded();
    expect((await session.post({ jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(404);
  });

  it('changes a project, and its clients see it at once', async () => {
    expect((await admin.put('projects/fresh', { servers: ['one'] })).status).toBe(201);
    const session = await RawSession.open(gateway.urlOf('/projects/fresh/mcp'));
    const stream = await session.listen();
    const names = async (): Promise<string[]> => (await session.list('tools')).map(({ name }) => name);
    expect(await names()).toEqual(['one__read', 'one__write']);
    const body = { servers: ['two'], description: 'another' };
    expect(await admin.put('projects/fresh', body)).toMatchObject({
      status: 200,
      json: { ...body, origin: 'admin' },
    });
    expect(await names()).toEqual(['two__read', 'two__write']);
    await stream.message('the change', ({ method }) => method === 'notifications/tools/list_changed');
    const again = await admin.put('projects/fresh', body);
    expect(again.headers.etag).toBe((await admin.get('projects/fresh')).headers.etag);
    expect((await admin.delete('projects/fresh')).status).toBe(204);
    expect((await session.request('tools/list')).error).toMatchObject({ code: -32602 });
  });

  it('serves its documentation without a token and without external files', async () => {
    const withoutToken = new AdminClient(gateway, null);
    const page = await withoutToken.get('/admin/docs');
    expect(page.status).toBe(200);
    expect(page.headers['content-security-policy']).toContain("default-src 'self'");
    expect(page.text).not.toMatch(/https?:|<script>| on\w+=/);
    const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) expect((await withoutToken.get(link)).status).toBe(200);
    for (const other of ['package.json', '..%2Fpackage.json', 'index.html', '%2e%2e'])
      expect((await withoutToken.get(`/admin/docs/${other}`)).status).toBe(404);
  });
});

describe('secrets', () => {
  it('appear in no response, event or audit entry', async () => {
    const stateDir = join(tempDir(), 'state');
    const canaries = {
      env: 'canary-env-5f1c',
      header: 'canary-header-8a2d',
      fromEnv: 'canary-from-env-77',
      patched: 'canary-patched-91',
    };
    const server = (await ScriptedServer.start()).tool(
      'leak',
      () => text('x'),
      JSON.stringify({
        name: 'leak',
        description: `uses ${canaries.header}`,
        inputSchema: { type: 'object' },
      }),
    );
    const gateway = await startGateway(
      {
        stateDir,
        admin: { token: ADMIN_TOKEN, viewerToken: VIEWER_TOKEN },
        mcpServers: {
          http: {
            ...server.http,
            headers: { authorization: `Bearer ${canaries.header}`, 'x-two': '${CANARY}' },
          },
          broken: {
            command: process.execPath,
            args: ['-e', 'console.error(process.env.KEY, "${CANARY}"); process.exit(1)'],
            env: { KEY: canaries.env },
          },
        },
      },
      { CANARY: canaries.fromEnv },
    );
    await gateway.listed({ tools: ['http'] });
    const admin = new AdminClient(gateway);
    const events = await admin.events();
    await gateway.logged({ server: 'broken' });
    for (const path of [
      'servers',
      'servers/http',
      'servers/broken',
      'servers/http/tools',
      'tools',
      'sessions',
      'config',
    ])
      await admin.get(path);
    await admin.patch('servers/http', { headers: { authorization: `Bearer ${canaries.patched}` } });
    await admin.put('servers/http', { url: 'http://127.0.0.1:9/', headers: { a: canaries.patched, b: 1 } });
    await admin.post('servers/broken/disable');
    await admin.get('servers/broken');
    const audit = readFileSync(join(stateDir, 'audit.jsonl'), 'utf8');
    const everything = [...admin.answers, JSON.stringify(events.all), audit].join('\n');
    for (const canary of [...Object.values(canaries), ADMIN_TOKEN, VIEWER_TOKEN])
      expect(everything).not.toContain(canary);
    expect(everything).toContain('[redacted]');
    events.disconnect();
  });
});
