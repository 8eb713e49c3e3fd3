import type { IncomingMessage, ServerResponse } from 'node:http';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { hashOf } from '../../src/config/api-key-config.js';
import { launch } from '../kit/command-line.js';
import { launchGateway, writeConfig, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { BOTH_TYPES, RawSession, textIn } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { serve } from '../kit/serve.js';
import { tempDir } from '../kit/temp-dir.js';
import { until } from '../kit/until.js';

/** A secret named after its use, with characters that JSON and URLs escape. */
const canary = (use: string): string => `${use}-canary "${'q'.repeat(16)}" ä&?`;
const ENV = {
  ARG: canary('arg'),
  CHILD: canary('child'),
  HEADER: 'header-canary-qqqqqqqqqqqqqqqq',
  URL: 'url-canary/qqqq?qqqqqqq=qqqqq',
  ADMIN: 'admin-canary-qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq',
  LATER: canary('later'),
  HOST: 'host-canary-qqqqqqqqqqqq.invalid',
};
const KEY = 'key-canary-qqqqqqqqqqqqqqqqqqqqqqqqqqqq';
const VIEWER_TOKEN = 'a-token-of-a-viewer-qqqqqqqqqqqqqqqqqqqqqq';
const CANARY = /(arg|child|header|url|admin|later|host|key)-canary/;

const inShell = (script: string): object => ({
  command: 'sh',
  args: ['-c', script, '${ARG}'],
  env: { TOKEN: '${CHILD}' },
});

/** A server whose first process fails with a secret on stderr. */
function failingOnce(server: ScriptedServer): object {
  const { command, args } = server.stdio();
  const script = 'if mkdir "$0" 2>/dev/null; then echo "startup failed: $TOKEN" >&2; exit 3; fi; exec "$@"';
  const flag = join(tempDir(), 'started');
  return { command: 'sh', args: ['-c', script, flag, command, ...args], env: { TOKEN: '${CHILD}' } };
}

/** Forwards to a server; once broken, it refuses every request and repeats its credentials in the response. */
class EchoingProxy {
  isBroken = false;

  constructor(private readonly server: ScriptedServer) {}

  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    if (!this.isBroken) return void this.server.httpEndpoint.serve(request, response);
    const { authorization = '' } = request.headers;
    response.writeHead(401, `Unauthorized ${authorization}`, {
      'www-authenticate': authorization,
      location: request.url,
    });
    response.end(`${authorization} ${request.url}`);
  };
}

describe('a secret from the environment', () => {
  let gateway: Gateway;
  let file: string;
  let session: RawSession;
  let child: ScriptedServer;
  const proxies: EchoingProxy[] = [];
  /** All responses of the gateway. */
  const answers: string[] = [];

  async function startProxy(): Promise<string> {
    const server = (await ScriptedServer.start()).tool('t', () => text('done'));
    const proxy = new EchoingProxy(server);
    proxies.push(proxy);
    return (await serve(proxy.handle)).url;
  }

  beforeAll(async () => {
    child = (await ScriptedServer.start()).tool('t', () => text('done'));
    const [http, sse] = [await startProxy(), await startProxy()];
    const headers = { Authorization: 'Bearer ${HEADER}' };
    const entry = child.stdio();
    const recovered = (await ScriptedServer.start()).tool('t', () => text('done'));
    file = writeConfig({
      log: { level: 'debug' },
      admin: { token: '${ADMIN}', viewerToken: VIEWER_TOKEN },
      auth: { apiKeys: [{ id: 'k', hash: hashOf(KEY), projects: ['*'] }] },
      mcpServers: {
        child: { ...entry, args: [...entry.args, '${ARG}'], env: { TOKEN: '${CHILD}' } },
        http: { url: `${http}/mcp?key=\${URL}`, headers },
        sse: { type: 'sse', url: `${sse}/sse?key=\${URL}`, headers },
        crashing: inShell('echo "$TOKEN $0" >&2; exit 3'),
        recovered: failingOnce(recovered),
        talkative: inShell('echo "$TOKEN $0"; echo "{\\"$TOKEN\\""; echo "$0" >&2; sleep 600'),
        missing: {
          command: '/nonexistent/program',
          args: ['${ARG}', '--api-key', 'in-the-file', '--region', 'us-east-1'],
        },
        unreachable: { url: 'http://127.0.0.1:1/mcp?key=${URL}', headers },
        nowhere: { url: 'http://nowhere.invalid/${URL}', headers },
        unknown: { type: 'sse', url: 'http://${HOST}/sse' },
        unreachableSse: { type: 'sse', url: 'http://127.0.0.1:1/sse?key=${URL}', headers },
      },
    });
    gateway = launchGateway(['--config', file], ENV);
    await gateway.listening();
    const authorization = `Bearer ${KEY}`;
    await gateway.listed({ tools: ['child', 'http', 'sse'] }, { authorization });
    session = await RawSession.open(gateway.url, { headers: { authorization } });
  });

  const outputs = (): string[] => [
    gateway.stdout,
    gateway.stderr,
    ...gateway.logs.map((entry) => JSON.stringify(entry)),
    ...answers,
  ];
  const leaks = (): string[] => outputs().filter((output) => CANARY.test(output));

  async function ask(url: string, headers: Record<string, string> = {}): Promise<void> {
    const answer = await exchange(url, { headers: { accept: BOTH_TYPES, ...headers } });
    answers.push(JSON.stringify([answer.status, answer.headers, answer.text]));
  }

  it('reaches its server and is not in the log', async () => {
    for (const id of ['child', 'http', 'sse'])
      expect(textIn(await session.callTool(`${id}__t`))).toBe('done');
    await gateway.logged({ server: 'crashing', message: 'server is crash-loop' });
    expect(leaks()).toEqual([]);
  });

  it('is redacted on the stderr of a failure, which is logged, kept after a restart of the server, and not in /health', async () => {
    const stderr = ['startup failed: [redacted]'];
    const url = gateway.urlOf('/admin/v1/servers/recovered');
    const headers = { authorization: `Bearer ${ENV.ADMIN}` };
    const detail = await until('the server has recovered', async () => {
      const answer = JSON.parse((await exchange(url, { headers })).text) as Record<string, unknown>;
      return answer['state'] === 'ready' && answer;
    });
    expect(detail['lastFailure']).toEqual({
      time: expect.stringMatching(/^20.*Z$/),
      cause: 'crashed',
      reason: 'exited with code 3',
      stderr,
    });
    expect(await gateway.logged({ server: 'recovered', message: 'server is retrying' })).toMatchObject({
      cause: 'crashed',
      attempts: 1,
      stderr,
    });
    const env = { GATEHOUSE_URL: gateway.urlOf('/'), GATEHOUSE_ADMIN_TOKEN: ENV.ADMIN };
    const shown = await launch(['servers', 'show', 'recovered'], env).done;
    expect(shown.stdout).toMatch(/last failure\n +20\S+ +crashed: .*\n +startup failed: \[redacted\]\n/);
    const health = await exchange(gateway.urlOf('/health'), { headers });
    expect(health.text).toContain('server:recovered');
    expect(health.text).not.toContain('startup failed');
  });

  it('is neither sent to clients nor logged when a failing server repeats it', async () => {
    for (const proxy of proxies) proxy.isBroken = true;
    for (const id of ['http', 'sse', 'http', 'sse']) {
      const answer = await session.callTool(`${id}__t`);
      expect(answer.error).toBeDefined();
      answers.push(answer.text);
    }
    child.on('initialize', () => undefined);
    process.kill(child.link.pid!, 'SIGKILL');
    await until('calls to the child fail', async () => {
      const answer = await session.callTool('child__t');
      answers.push(answer.text);
      return answer.error !== undefined;
    });
    expect(leaks()).toEqual([]);
  });

  it('is in no response of health, metrics and admin routes', async () => {
    const admin = { authorization: `Bearer ${ENV.ADMIN}` };
    for (const path of [
      '/health',
      '/health/live',
      '/health/ready',
      '/health/startup',
      '/metrics',
      '/admin/v1/servers',
      ...['child', 'http', 'sse', 'crashing', 'missing', 'nowhere'].map((id) => `/admin/v1/servers/${id}`),
      '/admin/v1/tools',
      '/admin/v1/sessions',
      '/admin/v1/nowhere',
    ]) {
      await ask(gateway.urlOf(path), admin);
      await ask(gateway.urlOf(path));
    }
    await ask(gateway.url, { authorization: `Bearer ${KEY}x` });
    await ask(`${gateway.url}?access_token=${KEY}`);
    await ask(gateway.urlOf('/nowhere'), { authorization: `Bearer ${KEY}` });
    expect(leaks()).toEqual([]);
  });

  it('is masked in a definition, which can be sent back; a viewer does not see secrets of the file either', async () => {
    const url = gateway.urlOf('/admin/v1/servers/missing');
    const request = async (token: string, method = 'GET', body?: object) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const answer = await exchange(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      answers.push(answer.text);
      expect(answer.status).toBe(200);
      return (JSON.parse(answer.text) as { definition: { args: string[] } }).definition;
    };
    const mask = '********';
    const definition = await request(ENV.ADMIN);
    expect(definition.args).toEqual([mask, '--api-key', 'in-the-file', '--region', 'us-east-1']);
    const seen = await request(VIEWER_TOKEN);
    expect(seen.args).toEqual([mask, '--api-key', mask, '--region', 'us-east-1']);
    const changed = await request(ENV.ADMIN, 'PUT', { ...seen, timeoutMs: 5000 });
    expect(changed).toEqual({ ...definition, timeoutMs: 5000 });
    expect(leaks()).toEqual([]);
  });

  it('is not logged by a reload, successful or refused', async () => {
    const good = readFileSync(file, 'utf8');
    const config = JSON.parse(good) as { mcpServers: object };
    for (const invalid of [
      { url: '${LATER}' },
      { command: 'node', cwd: 7, args: ['${LATER}'], '${LATER}': '${LATER}' },
      { url: 'http://x', headers: { 'x y': '${LATER}' } },
      { command: 'node', concurrency: '${LATER}' },
    ]) {
      const from = gateway.logs.length;
      writeFileSync(file, JSON.stringify({ ...config, mcpServers: { ...config.mcpServers, invalid } }));
      await gateway.logged({ message: 'configuration not reloaded; the previous one stays in effect' }, from);
    }
    const later = { command: 'sh', args: ['-c', 'echo "$0" >&2; exit 3', '${LATER}'] };
    writeFileSync(file, JSON.stringify({ ...config, mcpServers: { ...config.mcpServers, later } }));
    await gateway.logged({ server: 'later', message: 'server is retrying' });
    expect(leaks()).toEqual([]);
  });

  it('is not logged at shutdown', async () => {
    expect((await gateway.stop()).code).toBe(0);
    expect(gateway.logs.length).toBeGreaterThan(20);
    expect(leaks()).toEqual([]);
  });
});
