import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { hashOf } from '../../src/config/api-key-config.js';
import { launchGateway, startGateway, writeConfig, type Gateway } from '../kit/gateway.js';
import { exchange, type RawResponse } from '../kit/http.js';
import { OidcIssuer } from '../kit/oidc-issuer.js';
import { BOTH_TYPES, postMessage, RawSession, textIn } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { until, within } from '../kit/until.js';

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const key = (id: string, projects: string[], more: object = {}): object => ({
  id,
  hash: hashOf(`key-of-${id}`),
  projects,
  ...more,
});
const keyHeader = (id: string): Record<string, string> => bearer(`key-of-${id}`);

const PARAMS = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
const initialize = (url: string, headers: Record<string, string> = {}): Promise<RawResponse> =>
  postMessage(url, { jsonrpc: '2.0', id: 1, method: 'initialize', params: PARAMS }, headers);

const PROJECTS = { red: { servers: ['left'] }, blue: { servers: ['right'] } };

async function startScripted(): Promise<ScriptedServer> {
  return (await ScriptedServer.start()).tool('t', () => text('done'));
}

describe('API keys', () => {
  let gateway: Gateway;

  beforeAll(async () => {
    const [left, right] = await Promise.all([startScripted(), startScripted()]);
    const apiKeys = [
      key('all', ['*']),
      key('red', ['red']),
      key('blue', ['blue']),
      key('none', []),
      key('old', ['*'], { expires: '2020-01-01' }),
      key('young', ['*'], { expires: '2999-01-01' }),
    ];
    gateway = await startGateway({
      mcpServers: { left: left.http, right: right.http },
      projects: PROJECTS,
      auth: { apiKeys },
    });
    await gateway.listed({ tools: ['left', 'right'] }, keyHeader('all'));
  });

  const toolsOf = async (id: string, path = '/mcp'): Promise<string[]> => {
    const session = await RawSession.open(gateway.urlOf(path), { headers: keyHeader(id) });
    return (await session.list('tools')).map(({ name }) => name);
  };

  it('without a server in their projects are counted with every session and logged once', async () => {
    for (let times = 0; times < 2; times++) expect(await toolsOf('none')).toEqual([]);
    const lines = gateway.logs.filter(({ message }) => message.startsWith('a client sees no server'));
    expect(lines).toMatchObject([{ level: 'warn', principal: 'key:none', projects: [] }]);
    const { text: metrics } = await exchange(gateway.urlOf('/metrics'));
    expect(metrics).toMatch(/^gatehouse_empty_scopes_total [2-9]\d*$/m);
  });

  it.each<[string, Record<string, string>]>([
    ['none', {}],
    ['an unknown key', bearer('key-of-no-user')],
    ['an expired key', keyHeader('old')],
    ['the hash of a key', bearer(hashOf('key-of-all'))],
    ['a valid key with a suffix', bearer('key-of-all-')],
    ['an empty key', { authorization: 'Bearer ' }],
    ['a key in another scheme', { authorization: `Basic ${Buffer.from('key-of-all:').toString('base64')}` }],
    ['a key in another header', { 'x-api-key': 'key-of-all', cookie: 'token=key-of-all' }],
  ])('refuse every request with %s', async (_what, headers) => {
    const { id } = await RawSession.open(gateway.url, { headers: keyHeader('all') });
    const inSession = { ...headers, 'mcp-session-id': id, accept: BOTH_TYPES };
    const refused = [
      await initialize(gateway.url, headers),
      await initialize(gateway.urlOf('/projects/red/mcp'), headers),
      await postMessage(gateway.url, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, inSession),
      await exchange(gateway.url, { headers: inSession }),
      await exchange(gateway.url, { method: 'DELETE', headers: inSession }),
    ];
    for (const { status, headers: answered, text: body } of refused) {
      expect(status).toBe(401);
      expect(answered['www-authenticate']).toMatch(/^Bearer realm="gatehouse"/);
      expect(body).not.toMatch(/left|right/);
    }
  });

  it.each(['access_token', 'token', 'key', 'api_key', 'authorization'])(
    'are not read from the query string: %s',
    async (name) => {
      const { status } = await initialize(`${gateway.url}?${name}=key-of-all`);
      expect(status).toBe(401);
    },
  );

  it('accept a request with a valid key', async () => {
    expect(await toolsOf('all')).toEqual(['left__t', 'right__t']);
    expect(await toolsOf('young')).toEqual(['left__t', 'right__t']);
  });

  it('limit their clients to the granted projects', async () => {
    expect(await toolsOf('red')).toEqual(['left__t']);
    expect(await toolsOf('red', '/projects/red/mcp')).toEqual(['left__t']);
    expect(await toolsOf('none')).toEqual([]);
    const session = await RawSession.open(gateway.url, { headers: keyHeader('red') });
    expect((await session.callTool('right__t')).error?.message).toBe('Unknown tool: right__t');
    const { text: body } = await initialize(gateway.urlOf('/projects/blue/mcp'), keyHeader('red'));
    expect(body).toContain('Unknown project: blue');
  });

  it('own their sessions: with another valid key a stolen session id is unknown', async () => {
    const victim = await RawSession.open(gateway.url, { headers: keyHeader('red') });
    const stream = await victim.listen();
    const stolen = { ...keyHeader('blue'), 'mcp-session-id': victim.id, accept: BOTH_TYPES };
    const made = { ...stolen, 'mcp-session-id': 'x'.repeat(victim.id.length) };
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const answers = async (headers: Record<string, string>): Promise<RawResponse[]> => [
      await postMessage(gateway.url, list, headers),
      await exchange(gateway.url, { headers }),
      await exchange(gateway.url, { headers: { ...headers, 'last-event-id': '1' } }),
      await exchange(gateway.url, { method: 'DELETE', headers }),
    ];
    const [seen, unseen] = [await answers(stolen), await answers(made)];
    expect(seen.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect(seen.map(({ text: body }) => body)).toEqual(unseen.map(({ text: body }) => body));
    expect(stream.hasEnded).toBe(false);
    expect(textIn(await victim.callTool('left__t'))).toBe('done');
  });
});

describe('an API key that is removed by a reload', () => {
  it('is refused from the next request on, and only its streams end', async () => {
    const scripted = await startScripted();
    scripted.tool('wait', () => undefined);
    const file = writeConfig({
      mcpServers: { s: scripted.http },
      auth: { apiKeys: [key('a', ['*']), key('b', ['*'])] },
    });
    const gateway = launchGateway(['--config', file]);
    await gateway.listening();
    await gateway.listed({ tools: ['s'] }, keyHeader('a'));
    const [removed, kept] = await Promise.all(
      ['a', 'b'].map((id) => RawSession.open(gateway.url, { headers: keyHeader(id) })),
    );
    const [ending, going] = await Promise.all([removed!.listen(), kept!.listen()]);
    const call = removed!.callTool('s__wait').then(
      ({ error }) => error?.code,
      () => 'cut off',
    );
    await until('the call is in flight', () => scripted.inFlight === 1);

    const config = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(`${file}.new`, JSON.stringify({ ...config, auth: { apiKeys: [key('b', ['*'])] } }));
    renameSync(`${file}.new`, file);

    await ending.untilEnded();
    expect([-31099, 'cut off']).toContain(await within('the call to end', call));
    await until('the server got the cancellation', () => scripted.inFlight === 0);
    expect((await initialize(gateway.url, keyHeader('a'))).status).toBe(401);
    expect((await removed!.post({ jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(401);
    expect(going.hasEnded).toBe(false);
    expect((await kept!.request('ping')).result).toEqual({});
  });
});

describe('tokens of an issuer', () => {
  const AUDIENCE = 'https://gateway.example/mcp';
  let issuer: OidcIssuer;
  let gateway: Gateway;

  beforeAll(async () => {
    const [left, right] = await Promise.all([startScripted(), startScripted()]);
    issuer = await OidcIssuer.start();
    issuer.projects = ['red'];
    gateway = await startGateway({
      mcpServers: { left: left.http, right: right.http },
      projects: PROJECTS,
      auth: { jwt: { issuer: issuer.url, audience: AUDIENCE }, apiKeys: [key('all', ['*'])] },
    });
    await gateway.listed({ tools: ['left', 'right'] }, keyHeader('all'));
  });

  it('accept a request with a valid token, in the projects of its claims', async () => {
    const headers = bearer(await issuer.token(AUDIENCE));
    const session = await RawSession.open(gateway.url, { headers });
    expect((await session.list('tools')).map(({ name }) => name)).toEqual(['left__t']);
    expect(textIn(await session.callTool('left__t'))).toBe('done');
    expect((await initialize(gateway.urlOf('/projects/blue/mcp'), headers)).text).toContain(
      'Unknown project',
    );
  });

  it('keep a session over a refresh, and refuse it to other principals', async () => {
    const session = await RawSession.open(gateway.url, { headers: bearer(await issuer.token(AUDIENCE)) });
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const refreshed = await session.post(ping, bearer(await issuer.token(AUDIENCE)));
    expect(refreshed.status).toBe(200);
    const claims = { aud: AUDIENCE, sub: 'another-subject', exp: Math.floor(Date.now() / 1000) + 60 };
    expect((await session.post(ping, bearer(await issuer.forge({ claims })))).status).toBe(404);
    expect((await session.post(ping, keyHeader('all'))).status).toBe(404);
  });

  it('reduce the notifications on an open stream when a refresh has fewer grants', async () => {
    const claims = { aud: AUDIENCE, sub: 's', exp: Math.floor(Date.now() / 1000) + 60 };
    const both = await issuer.forge({ claims: { ...claims, projects: ['red', 'blue'] } });
    const session = await RawSession.open(gateway.url, { headers: bearer(both) });
    const stream = await session.listen();
    const blue = await issuer.forge({ claims: { ...claims, projects: ['blue'] } });
    await session.post({ jsonrpc: '2.0', id: 1, method: 'ping' }, bearer(blue));
    await stream.message('the change', ({ method }) => method === 'notifications/tools/list_changed');
    expect(stream.messages).toHaveLength(1);
  });

  it.each<[string, () => Promise<string>]>([
    ['for another audience', () => issuer.token('https://other.example/mcp')],
    ['that has expired', () => issuer.forge({ claims: { aud: AUDIENCE, exp: 1_000_000_000 } })],
    [
      'of another issuer',
      () => issuer.forge({ claims: { aud: AUDIENCE, iss: 'https://evil.example', exp: 9e9 } }),
    ],
    [
      'without a signature',
      async () => `${(await issuer.token(AUDIENCE)).split('.').slice(0, 2).join('.')}.`,
    ],
  ])('refuse a request with a token %s', async (_what, make) => {
    const { status, headers } = await initialize(gateway.url, bearer(await make()));
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toContain('error="invalid_token"');
  });

  it('are announced in the protected resource metadata (RFC 9728)', async () => {
    const { status, headers } = await initialize(gateway.url);
    expect(status).toBe(401);
    const metadata = 'https://gateway.example/.well-known/oauth-protected-resource/mcp';
    expect(headers['www-authenticate']).toBe(`Bearer resource_metadata="${metadata}"`);
    for (const path of ['', '/mcp']) {
      const answer = await exchange(gateway.urlOf(`/.well-known/oauth-protected-resource${path}`));
      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.text)).toMatchObject({
        resource: AUDIENCE,
        authorization_servers: [issuer.url],
        bearer_methods_supported: ['header'],
      });
    }
  });

  it('appear in no log line', async () => {
    const token = await issuer.token('https://other.example/mcp');
    await initialize(gateway.url, bearer(token));
    expect(await gateway.logged({ message: 'token refused' })).toMatchObject({
      level: 'warn',
      address: '127.0.0.1',
      reason: expect.any(String),
    });
    const written = JSON.stringify(gateway.logs);
    for (const part of token.split('.')) expect(written).not.toContain(part);
    expect(written).not.toContain('key-of-all');
  });
});

describe('the credentials of a client', () => {
  it.each(['http', 'sse'] as const)(
    'are not forwarded to a server, nor is any other header (%s)',
    async (kind) => {
      const scripted = await startScripted();
      scripted.tool('talk', (call) => {
        call.notify('notifications/message', { level: 'error', data: 'x' });
        return text('answer');
      });
      const gateway = await startGateway({
        mcpServers: {
          s: { ...scripted[kind], headers: { authorization: 'Bearer of-the-config' } },
          own: { ...scripted[kind], isolation: 'session' },
        },
        auth: { apiKeys: [key('a', ['*'])] },
      });
      await gateway.listed({ tools: ['s', 'own'] }, keyHeader('a'));
      const headers = {
        ...keyHeader('a'),
        cookie: 'session=of-the-client',
        'x-api-key': 'of-the-client',
        'x-forwarded-for': '203.0.113.7',
        'x-of-the-client': '1',
        'proxy-authorization': 'Basic of-the-client',
      };
      const session = await RawSession.open(gateway.url, { headers });
      const stream = await session.listen();
      for (const server of ['s', 'own']) {
        expect(textIn(await session.callTool(`${server}__t`))).toBe('done');
        expect(textIn(await session.callTool(`${server}__talk`))).toBe('answer');
      }
      expect((await session.end()).status).toBe(200);
      await stream.untilEnded();
      await gateway.stop();

      const { requests } = scripted.httpEndpoint;
      await until(
        'the session is ended',
        () => kind === 'sse' || requests.some(({ method }) => method === 'DELETE'),
      );
      const verbs = kind === 'http' ? ['DELETE', 'GET', 'POST'] : ['GET', 'POST'];
      expect([...new Set(requests.map(({ method }) => method))].toSorted()).toEqual(verbs);
      const arrived = JSON.stringify(requests);
      expect(arrived).not.toMatch(/key-of-a|of-the-client|203\.0\.113\.7/);
      expect(arrived).not.toContain(session.id);
      const credentials = new Set(requests.map((request) => request.headers.authorization));
      expect(credentials).toEqual(new Set([undefined, 'Bearer of-the-config']));
    },
  );
});

describe('a gateway that listens beyond loopback without authentication', () => {
  it.each(['0.0.0.0', '::'])('does not start, and names the config key: %s', async (host) => {
    const gateway = launchGateway(['--config', writeConfig({ http: { host } })]);
    const { code } = await within('the gateway to exit', gateway.exited);
    expect({ code, stdout: gateway.stdout }).toEqual({ code: 2, stdout: '' });
    expect(gateway.stderr).toMatch(/^ {2}http\.host: .*auth/m);
  });

  it('starts with API keys, and refuses every request with an empty list of them', async () => {
    const gateway = await startGateway({ http: { host: '0.0.0.0' }, auth: { apiKeys: [] } });
    const url = gateway.url.replace(/\/\/[^:]+/, '//127.0.0.1');
    expect((await initialize(url, keyHeader('a'))).status).toBe(401);
  });
});
