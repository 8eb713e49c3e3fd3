import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { launch } from '../kit/command-line.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { RawSession } from '../kit/raw-session.js';
import { Scrape } from '../kit/scrape.js';
import { ScriptedError, ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { serve } from '../kit/serve.js';
import { until, within } from '../kit/until.js';

/** Far below every timeout of the hanging servers, far above what a busy machine needs. */
const SOON_MS = 10_000;

/** Far above what a server that answers needs on a busy machine. */
const TIMEOUT_MS = 800;

const answering = (status: number): Promise<{ url: string }> =>
  serve((_request, response) => void response.writeHead(status).end());

describe('servers that hang', () => {
  let gateway: Gateway;
  let session: RawSession;
  let mute: ScriptedServer;
  let stuck: ScriptedServer;
  let failing: ScriptedServer;
  /** How much later the gateway listened than one without servers, started at the same time. */
  let delay: number;

  beforeAll(async () => {
    [mute, stuck] = await Promise.all([ScriptedServer.start(), ScriptedServer.start()]);
    mute.on('initialize', () => undefined);
    const listless = await ScriptedServer.start();
    listless.on('tools/list', () => undefined).prompt('hello', () => ({ messages: [] }));
    stuck.tool('hang', () => undefined).tool('echo', () => text('echo'));
    failing = await ScriptedServer.start();
    failing.on('tools/list', () => {
      throw new ScriptedError('{"code":-32603,"message":"fetch failed"}');
    });
    const healthy = await ScriptedServer.start();
    healthy.tool('echo', () => text('healthy'));

    const began = performance.now();
    const withoutServers = startGateway({}).then(() => performance.now() - began);
    gateway = await startGateway({
      admin: { token: ADMIN_TOKEN },
      mcpServers: {
        'mute-stdio': mute.stdio(),
        'mute-http': mute.http,
        // Connections are accepted and never answered.
        'mute-sse': { type: 'sse', url: mute.http.url },
        listless: listless.http,
        failing: failing.http,
        missing: { command: '/nonexistent/program' },
        silent: { command: 'sleep', args: ['600'], timeoutMs: 100 },
        refusing: { url: 'http://127.0.0.1:9/mcp' },
        unauthorized: { url: (await answering(401)).url },
        gone: { url: (await answering(404)).url },
        nameless: { url: 'http://name.invalid/mcp?key=secret-of-the-url' },
        impatient: { command: 'sleep', args: ['600'], connectTimeoutMs: 300 },
        stuck: { ...stuck.stdio(), timeoutMs: TIMEOUT_MS },
        healthy: healthy.stdio(),
      },
    });
    delay = performance.now() - began - (await withoutServers);
    await gateway.listed({ tools: ['stuck', 'healthy'], prompts: ['listless'] });
    session = await RawSession.open(gateway.url);
  });

  // First, because the time for the first lists ends 30 seconds after the start.
  it('make the gateway degraded, and unready only until the time for the first lists is over', async () => {
    const ready = await within('readiness', exchange(gateway.urlOf('/health/ready')), SOON_MS);
    expect(JSON.parse(ready.text)).toMatchObject({
      details: {
        servers: { status: 'degraded' },
        requiredServers: { status: 'up' },
        startup: { status: 'down' },
      },
    });
  });

  it('do not delay the start', () => {
    expect(delay).toBeLessThan(SOON_MS);
  });

  it('do not delay a list, which leaves them out', async () => {
    const tools = await within('the list', session.list('tools'), SOON_MS);
    expect(tools.map(({ name }) => name)).toEqual(['healthy__echo', 'stuck__echo', 'stuck__hang']);
  });

  it('have their other lists served while one of their lists hangs', async () => {
    const prompts = await within('the list', session.list('prompts'), SOON_MS);
    expect(prompts.map(({ name }) => name)).toEqual(['listless__hello']);
  });

  it('say which of their lists failed, in the admin API, on the command line and to callers of a name', async () => {
    const admin = new AdminClient(gateway);
    const reason = 'tools/list failed: fetch failed';
    const { json } = await until('the failure is shown', async () => {
      const answer = await admin.get('servers/failing');
      return answer.json['reason'] === undefined ? undefined : answer;
    });
    expect(json).toMatchObject({ state: 'ready', attempts: 0, restarts: 0, reason });
    const env = { GATEHOUSE_URL: gateway.urlOf('/'), GATEHOUSE_ADMIN_TOKEN: ADMIN_TOKEN };
    expect((await launch(['servers', 'show', 'failing'], env).done).stdout).toContain(`ready, ${reason}\n`);
    const { error } = await session.callTool('failing__any');
    expect(error).toMatchObject({ code: -31003, data: { server: 'failing', reason: 'unresponsive' } });
    expect(gateway.logs.filter(({ message }) => message === 'tools/list failed')).toHaveLength(1);
    const scraped = new Scrape((await exchange(gateway.urlOf('/metrics'))).text);
    expect(scraped.value('gatehouse_backend_failed_lists', { server_id: 'failing' })).toBe(1);
  });

  it.each([
    ['refusing', 'unreachable', /ECONNREFUSED/],
    ['nameless', 'unreachable', /ENOTFOUND|EAI_AGAIN/],
    ['unauthorized', 'unauthorized', /401/],
    ['gone', 'not-found', /404/],
    ['missing', 'not-found', /ENOENT/],
    // connectTimeoutMs ends the attempt, long before timeoutMs.
    ['impatient', 'unresponsive', /initialize/],
  ])('show the cause of a failure in the admin API and as a metric: %s', async (id, cause, reason) => {
    const admin = new AdminClient(gateway);
    const { json } = await until(`the cause of ${id} is shown`, async () => {
      const answer = await admin.get(`servers/${id}`);
      return answer.json['lastFailure'] === undefined ? undefined : answer;
    });
    expect(json).toMatchObject({
      cause,
      downSince: expect.any(String),
      lastFailure: { cause, reason: expect.stringMatching(reason) },
    });
    const scraped = new Scrape((await exchange(gateway.urlOf('/metrics'))).text);
    expect(scraped.value('gatehouse_backend_failure_cause', { server_id: id, cause })).toBe(1);
  });

  it('show how often the gateway tried to connect and when it tries again', async () => {
    const admin = new AdminClient(gateway);
    const { json, at } = await until('a second attempt has failed', async () => {
      const answer = await admin.get('servers/missing');
      const { attempts, nextAttempt } = answer.json;
      return Number(attempts) >= 2 && nextAttempt !== undefined && { ...answer, at: Date.now() };
    });
    // The next attempt may have begun between the answer and the reading of the clock.
    expect(Date.parse(String(json['nextAttempt']))).toBeGreaterThan(at - 1000);
    expect(Date.parse(String(json['nextAttempt']))).toBeGreaterThan(Date.parse(String(json['downSince'])));
    const env = { GATEHOUSE_URL: gateway.urlOf('/'), GATEHOUSE_ADMIN_TOKEN: ADMIN_TOKEN };
    await until('the command shows the next attempt', async () => {
      const { stdout } = await launch(['servers', 'show', 'missing'], env).done;
      return (
        /^ {2}cause +not-found$/m.test(stdout) &&
        /^ {2}down since +20\S+Z$/m.test(stdout) &&
        /^ {2}attempts +[1-9]\d*$/m.test(stdout) &&
        /^ {2}next attempt +20\S+Z$/m.test(stdout)
      );
    });
  });

  it('are shown with their command, or their URL without its query', async () => {
    const env = { GATEHOUSE_URL: gateway.urlOf('/'), GATEHOUSE_ADMIN_TOKEN: ADMIN_TOKEN };
    const missing = await launch(['servers', 'show', 'missing'], env).done;
    const { stdout } = await launch(['servers', 'show', 'nameless'], env).done;
    expect(missing.stdout).toMatch(/^ {2}command +\/nonexistent\/program$/m);
    expect(stdout).toMatch(/^ {2}url +http:\/\/name\.invalid\/mcp$/m);
    expect(stdout).not.toContain('secret-of-the-url');
  });

  it('show how long they are waited for while they connect, beyond timeoutMs', async () => {
    const admin = new AdminClient(gateway);
    const reason = await until('it has waited for longer than timeoutMs', async () => {
      const { json } = await admin.get('servers/silent');
      return json['reason'];
    });
    expect(reason).toMatch(/^waiting [1-9]\d* s for initialize$/);
  });

  it('do not delay the calls of another server', async () => {
    const hanging = Array.from({ length: 5 }, () => session.callTool('stuck__hang'));
    const { result } = await within('the call', session.callTool('healthy__echo'), SOON_MS);
    expect(result).toEqual(text('healthy'));
    await Promise.all(hanging);
  });

  it('with one slow tool stay available to other clients', async () => {
    const neighbour = await RawSession.open(gateway.url);
    const end = performance.now() + 1.5 * TIMEOUT_MS;
    const slow = Array.from({ length: 4 }, async () => {
      while (performance.now() < end) await session.callTool('stuck__hang');
    });
    const outcomes: unknown[] = [];
    while (performance.now() < end) outcomes.push((await neighbour.callTool('stuck__echo')).error?.code);
    await Promise.all(slow);
    expect(outcomes.length).toBeGreaterThan(5);
    expect(outcomes.filter((code) => code !== undefined)).toEqual([]);
    // Nothing else is in flight: only a probe shows that the server answers.
    await Promise.all(Array.from({ length: 4 }, () => session.callTool('stuck__hang')));
    expect((await neighbour.callTool('stuck__echo')).result).toEqual(text('echo'));
  });

  it('delay a call by its timeout at most, and after three timeouts not at all until they answer any request', async () => {
    stuck.on('ping', () => undefined);
    const from = gateway.logs.length;
    for (let n = 0; n < 3; n++) {
      const { error } = await session.callTool('stuck__hang');
      expect(error).toMatchObject({ code: -31008, data: { code: 'TIMEOUT', server: 'stuck' } });
    }
    const began = performance.now();
    const { error } = await session.callTool('stuck__echo');
    expect(performance.now() - began).toBeLessThan(TIMEOUT_MS);
    expect(error).toMatchObject({ code: -31003, data: { code: 'SERVER_UNAVAILABLE', server: 'stuck' } });
    await gateway.logged({ level: 'warn', message: 'server does not answer', server: 'stuck' }, from);

    // It still does not respond to pings, but to the next probe, which requests a list.
    await gateway.logged({ message: 'server answers again', server: 'stuck' }, from);
    expect((await session.callTool('stuck__echo')).result).toEqual(text('echo'));
  });

  it('are listed as soon as they answer', async () => {
    mute.tool('awake', () => text('awake'));
    mute.on('initialize', () => ({ protocolVersion: '2025-06-18', capabilities: { tools: {} } }));
    for (const { link, message } of mute.messages('initialize'))
      link.send(
        `{"jsonrpc":"2.0","id":${message.id},"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}`,
      );
    await until('the tools are listed', async () =>
      (await session.list('tools')).some(({ name }) => name === 'mute-stdio__awake'),
    );
    expect((await session.callTool('mute-stdio__awake')).result).toEqual(text('awake'));
  });
});
