import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { launchGateway, startGateway, writeConfig, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { postMessage, RawSession } from '../kit/raw-session.js';
import { metricsIn, Scrape } from '../kit/scrape.js';
import { ScriptedServer, ScriptedError, text } from '../kit/scripted-server/scripted-server.js';
import { until } from '../kit/until.js';

const ADMIN_TOKEN = 'an-admin-token-of-some-length';
/** Far above what a server that answers needs on a busy machine. */
const TIMEOUT_MS = 1000;
/** Marks a request as forwarded by a proxy, so that its client is not on this machine. */
const REMOTE = { 'x-forwarded-for': '203.0.113.7' };

const scrape = async (gateway: Gateway): Promise<Scrape> =>
  new Scrape((await exchange(gateway.urlOf('/metrics'))).text);

let scripted: ScriptedServer;

beforeAll(async () => {
  scripted = await ScriptedServer.start();
  scripted
    .tool('echo', () => text('echo'))
    .tool('fail', () => ({ ...text('sorry'), isError: true }))
    .tool('refuse', () => {
      throw new ScriptedError('{"code":-32050,"message":"no"}');
    })
    .tool('hang', () => undefined);
});

describe('/metrics', () => {
  let gateway: Gateway;
  let session: RawSession;
  let killed: ScriptedServer;

  beforeAll(async () => {
    killed = await ScriptedServer.start();
    gateway = await startGateway({
      mcpServers: { s: { ...scripted.stdio(), timeoutMs: TIMEOUT_MS }, killed: killed.stdio() },
      admin: { token: ADMIN_TOKEN },
    });
    await gateway.listed({ tools: ['s'] });
    session = await RawSession.open(gateway.url);
  });

  it('is in the Prometheus text format', async () => {
    const { status, headers } = await exchange(gateway.urlOf('/metrics'));
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  it.each([
    ['a client without credentials', {}, 401],
    ['a client with an invalid token', { authorization: 'Bearer guess' }, 403],
    ['an administrator', { authorization: `Bearer ${ADMIN_TOKEN}` }, 200],
  ])('answers a remote request of %s with its status', async (_who, headers, status) => {
    for (const path of ['/metrics', '/health']) {
      const answer = await exchange(gateway.urlOf(path), { headers: { ...REMOTE, ...headers } });
      expect(answer.status).toBe(status);
      expect(answer.text.includes('mcp_backend_up') || answer.text.includes('server:s')).toBe(status === 200);
      expect(answer.headers['www-authenticate'] !== undefined).toBe(status === 401);
    }
  });

  it('answers every client when it is public', async () => {
    const open = await startGateway({ metrics: { public: true } });
    for (const path of ['/metrics', '/health'])
      expect((await exchange(open.urlOf(path), { headers: REMOTE })).status).toBe(200);
  });

  it.each([
    ['echo', 'ok', 'ok'],
    ['fail', 'tool_error', 'ok'],
    ['refuse', 'error', 'error'],
    ['hang', 'timeout', 'error'],
  ])('counts a call of %s as %s, and its request as %s', async (tool, outcome, requestOutcome) => {
    const read = async (): Promise<(number | undefined)[]> => {
      const now = await scrape(gateway);
      const request = { method: 'tools/call', outcome: requestOutcome };
      return [
        now.value('mcp_tool_calls_total', { server_id: 's', outcome }) ?? 0,
        now.value('mcp_request_duration_seconds_count', request) ?? 0,
        now.value('mcp_request_duration_seconds_bucket', { ...request, le: '+Inf' }) ?? 0,
      ];
    };
    const before = await read();
    await session.callTool(`s__${tool}`);
    expect(await read()).toEqual(before.map((count) => count! + 1));
  });

  it('measures the duration of requests', async () => {
    const now = await scrape(gateway);
    const labels = { method: 'tools/call', outcome: 'error' };
    // It includes the call that timed out.
    const seconds = TIMEOUT_MS / 1000;
    expect(now.value('mcp_request_duration_seconds_sum', labels)).toBeGreaterThan(0.95 * seconds);
    expect(now.value('mcp_request_duration_seconds_sum', labels)).toBeLessThan(20 * seconds);
    expect(now.value('mcp_request_duration_seconds_bucket', { ...labels, le: '0.25' })).toBeLessThan(
      now.value('mcp_request_duration_seconds_count', labels)!,
    );
  });

  it('reports which servers are up, their calls and their states', async () => {
    const fresh = await startGateway({
      mcpServers: {
        s: { ...scripted.stdio(), timeoutMs: 60_000, concurrency: 1, queue: 7 },
        dead: { command: 'false' },
      },
    });
    await fresh.listed({ tools: ['s'] });
    const client = await RawSession.open(fresh.url);
    const calls = [client.callTool('s__hang'), client.callTool('s__echo'), client.callTool('s__echo')];
    const now = await until('one runs and two wait', async () => {
      const shown = await scrape(fresh);
      return shown.value('mcp_backend_queue_depth', { server_id: 's' }) === 2 && shown;
    });
    expect(now.value('mcp_backend_in_flight', { server_id: 's' })).toBe(1);
    expect(now.value('gatehouse_backend_queue_limit', { server_id: 's' })).toBe(7);
    expect(now.value('mcp_backend_up', { server_id: 's' })).toBe(1);
    expect(now.value('mcp_backend_up', { server_id: 'dead' })).toBe(0);
    expect(now.value('gatehouse_backend_state', { server_id: 's', state: 'ready' })).toBe(1);
    expect(now.value('gatehouse_backend_state', { server_id: 's', state: 'retrying' })).toBe(0);
    expect(now.value('mcp_sessions_active')).toBe(1);
    await client.end();
    await Promise.all(calls);
    expect((await scrape(fresh)).value('mcp_sessions_active')).toBe(0);
  });

  it('counts the restarts of a server', async () => {
    const labels = { server_id: 'killed' };
    const restarts = async (): Promise<number> =>
      (await scrape(gateway)).value('gatehouse_backend_restarts_total', labels)!;
    await until(
      'the server is up',
      async () => (await scrape(gateway)).value('mcp_backend_up', labels) === 1,
    );
    const before = await restarts();
    process.kill(killed.link.pid!, 'SIGKILL');
    await until('the restart is counted', async () => (await restarts()) > before);
    expect(await restarts()).toBe(before + 1);
  });

  it('counts notifications by their kind, written and coalesced', async () => {
    const client = await RawSession.open(gateway.url);
    const labels = { kind: 'tools/list_changed' };
    const count = async (outcome: string): Promise<number> =>
      (await scrape(gateway)).value('mcp_notifications_total', { ...labels, outcome })!;
    const [written, coalesced] = [await count('written'), await count('coalesced')];
    for (const name of ['one', 'two']) {
      scripted.tool(name, () => text(name));
      scripted.broadcast('notifications/tools/list_changed');
      await until(`${name} is listed`, async () =>
        (await client.list('tools')).some((tool) => tool.name === `s__${name}`),
      );
    }
    // Without an open stream, the later of two notifications replaces the earlier one.
    await until('the notifications are coalesced', async () => (await count('coalesced')) > coalesced);
    const stream = await client.listen();
    await stream.message('the notice', ({ method }) => method === 'notifications/tools/list_changed');
    expect(await count('written')).toBe(written + 1);
    await client.end();
    await stream.untilEnded();
    const finished = (await scrape(gateway)).value('gatehouse_stream_closes_total', { reason: 'finished' });
    expect(finished).toBeGreaterThanOrEqual(1);
  });

  it('counts requests with invalid credentials by reason', async () => {
    const hash = `sha256:${'0'.repeat(64)}`;
    const guarded = await startGateway({ auth: { apiKeys: [{ id: 'ci', hash, projects: ['*'] }] } });
    await postMessage(guarded.url, {});
    await postMessage(guarded.url, {}, { authorization: 'Bearer a b' });
    for (let i = 0; i < 2; i++) await postMessage(guarded.url, {}, { authorization: `Bearer guess-${i}` });
    const now = await scrape(guarded);
    const failures = ['missing', 'malformed', 'invalid', 'expired'].map((reason) =>
      now.value('gatehouse_auth_failures_total', { reason }),
    );
    expect(failures).toEqual([1, 1, 2, 0]);
  });

  it('reports the version of the gateway', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect((await scrape(gateway)).value('gatehouse_build_info', { version })).toBe(1);
  });

  it('has all metrics of the contract, named by the rules of Prometheus', async () => {
    const now = await scrape(gateway);
    const contract = [
      'mcp_active_subscriptions',
      'mcp_backend_in_flight',
      'mcp_backend_queue_depth',
      'mcp_backend_up',
      'mcp_notifications_total',
      'mcp_request_duration_seconds',
      'mcp_resource_reads_total',
      'mcp_sessions_active',
      'mcp_subscription_events_total',
      'mcp_tool_calls_total',
      'mcpResourceReadsTotal',
      'nodejs_eventloop_lag_p99_seconds',
      'process_cpu_seconds_total',
    ];
    expect(contract.filter((name) => !now.families.has(name))).toEqual([]);
    const problems = now.problems();
    expect(problems.filter((problem) => !problem.startsWith('mcpResourceReadsTotal '))).toEqual([]);
    // The check itself works: it finds the violations of the alias.
    expect(problems).toContain('mcpResourceReadsTotal is not snake_case');
  });

  it('leaves out the alias when it is switched off', async () => {
    const plain = await startGateway({ metrics: { aliases: false } });
    expect((await scrape(plain)).problems()).toEqual([]);
  });
});

describe('the series of /metrics', () => {
  it('do not depend on the input of clients', async () => {
    const gateway = await startGateway({
      mcpServers: { s: scripted.stdio() },
      projects: { p: { servers: ['s'] } },
    });
    await gateway.listed({ tools: ['s'] });
    const sendVariedInput = async (rounds: number): Promise<void> => {
      const session = await RawSession.open(gateway.url);
      for (let round = 0; round < rounds; round++) {
        const word = Math.random().toString(36).slice(2);
        await Promise.all([
          session.callTool('s__echo', { [word]: word }),
          session.callTool(`s__${word}`),
          session.callTool(word),
          session.request(word),
          session.request(`tools/${word}`),
          session.request('notifications/initialized'),
          session.request('prompts/get', { name: word }),
          session.request('tools/list', { cursor: word }),
          session.notify(`notifications/${word}`),
          session.request('tools/call', { name: 's__echo', _meta: { projectId: word, [word]: word } }),
          session.post({ jsonrpc: '2.0', id: word, method: 'ping' }, { 'x-gatehouse-project': word }),
          session.post({ jsonrpc: '2.0', id: word, method: 'ping' }, { 'mcp-session-id': word }),
          postMessage(gateway.urlOf(`/projects/${word}/mcp`), {
            jsonrpc: '2.0',
            id: 1,
            method: 'initialize',
          }),
          exchange(gateway.urlOf(`/${word}`), { headers: { 'user-agent': word, [`x-${word}`]: word } }),
        ]);
      }
      scripted.broadcast(`notifications/${Math.random()}`);
      await session.end();
    };
    await sendVariedInput(1);
    const before = (await scrape(gateway)).ownSeries;
    await sendVariedInput(40);
    expect((await scrape(gateway)).ownSeries).toEqual(before);
    expect(before.length).toBeLessThan(400);
  });

  it('of a removed server are dropped, and the others stay', async () => {
    const file = writeConfig({ mcpServers: { goes: scripted.stdio(), stays: scripted.stdio() } });
    const gateway = launchGateway(['--config', file]);
    await gateway.listening();
    await gateway.listed({ tools: ['goes', 'stays'] });
    const session = await RawSession.open(gateway.url);
    await session.callTool('goes__echo');
    await session.callTool('stays__echo');
    const linesOf = async (server: string): Promise<number> =>
      (await scrape(gateway)).ownSeries.filter((line) => line.includes(`"server_id":"${server}"`)).length;
    const before = await linesOf('stays');
    expect(await linesOf('goes')).toBe(before);

    const config = JSON.parse(readFileSync(file, 'utf8')) as { mcpServers: Record<string, object> };
    delete config.mcpServers['goes'];
    writeFileSync(file, JSON.stringify(config));
    await until('its series are dropped', async () => (await linesOf('goes')) === 0);
    expect(await linesOf('stays')).toBe(before);
  });

  it('report a refused configuration, and when the last one was accepted', async () => {
    const file = writeConfig({});
    const gateway = launchGateway(['--config', file]);
    await gateway.listening();
    const accepted = 'gatehouse_config_last_reload_success_timestamp_seconds';
    const first = (await scrape(gateway)).value(accepted)!;
    expect(Math.abs(first - Date.now() / 1000)).toBeLessThan(30);
    const good = readFileSync(file, 'utf8');
    writeFileSync(file, '{ "unknownKey": 1 }');
    const successful = async (): Promise<number | undefined> =>
      (await scrape(gateway)).value('gatehouse_config_last_reload_successful');
    await until('the configuration was refused', async () => (await successful()) === 0);
    expect((await scrape(gateway)).value(accepted)).toBe(first);
    writeFileSync(file, good);
    await until('the configuration was accepted', async () => (await successful()) === 1);
    expect((await scrape(gateway)).value(accepted)).toBeGreaterThan(first);
  });
});

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: {
    readonly summary?: string;
    readonly description?: string;
    readonly runbook_url?: string;
  };
  readonly labels: { readonly severity?: string };
}

/** The URL of the gateways is an external label of Prometheus, or that of a scraped address. */
const RUNBOOK_URL =
  /^\{\{ with \$externalLabels\.gatehouse_url \}\}\{\{ \. \}\}\{\{ else \}\}http:\/\/(.+)\{\{ end \}\}(\/.+)$/;
/** Whether the alert has the label `instance`. */
const keepsInstance = (expr: string): boolean =>
  [...expr.matchAll(/\bby \(([^)]*)\)/g)].every(([, labels]) => /\binstance\b/.test(labels!));

interface Dashboard {
  readonly panels: readonly {
    readonly datasource?: { uid: string };
    readonly targets?: readonly { expr: string }[];
  }[];
  readonly templating: { readonly list: readonly { name: string; type: string; definition?: string }[] };
}

describe('the alerts and the dashboard', () => {
  const rules = (
    parse(readFileSync('docker/prometheus-rules.yaml', 'utf8')) as { groups: { rules: Rule[] }[] }
  ).groups.flatMap((group) => group.rules);
  const dashboardText = readFileSync('docker/grafana-dashboard.json', 'utf8');
  const dashboard = JSON.parse(dashboardText) as Dashboard;
  const manual = readFileSync('docs/operations.md', 'utf8');
  let now: Scrape;
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await startGateway({ mcpServers: { s: scripted.stdio() } });
    await gateway.listed({ tools: ['s'] });
    now = await scrape(gateway);
  });

  it('query only existing metrics in alerts', () => {
    expect(rules.length).toBeGreaterThan(10);
    expect(rules.flatMap(({ expr }) => metricsIn(expr)).filter((name) => !now.has(name))).toEqual([]);
  });

  it('have a summary and an action for every alert', () => {
    for (const { annotations, labels } of rules) {
      expect(annotations.summary).toBeTruthy();
      expect(annotations.description!.length).toBeGreaterThan(40);
      expect(labels.severity).toMatch(/^(page|ticket)$/);
    }
  });

  it('have a runbook_url that the gateway serves', async () => {
    const { text: all } = await exchange(gateway.urlOf('/admin/docs/runbooks'));
    for (const { alert, expr, annotations } of rules) {
      const [, address, page = ''] = RUNBOOK_URL.exec(annotations.runbook_url!) ?? [];
      expect(address).toMatch(
        keepsInstance(expr) ? /\{\{ \$labels\.instance \}\}(\{\{ end \}\})?$/ : /\$labels\.job \| query /,
      );
      const runbook = await exchange(gateway.urlOf(page));
      expect([page, runbook.status]).toEqual([`/admin/docs/runbooks/${alert}`, 200]);
      expect(runbook.headers['content-type']).toBe('text/plain; charset=utf-8');
      expect(runbook.text.length).toBeGreaterThan(alert.length + 40);
      for (const whole of [manual, all]) expect(whole).toContain(runbook.text);
    }
    expect((await exchange(gateway.urlOf('/admin/docs/runbooks/GatehouseNone'))).status).toBe(404);
  });

  it('query only existing metrics in panels', () => {
    const queries = [
      ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
      ...dashboard.templating.list.map(({ definition = '' }) => definition),
    ];
    expect(queries.length).toBeGreaterThan(20);
    expect(queries.flatMap(metricsIn).filter((name) => !now.has(name))).toEqual([]);
  });

  it('have an alert and a panel for every failure counter', () => {
    const failures = [...now.families.keys()].filter((name) => name.endsWith('_failures_total'));
    expect(failures.length).toBeGreaterThan(1);
    const alerts = rules.flatMap(({ expr }) => metricsIn(expr));
    const drawn = dashboard.panels.flatMap(({ targets = [] }) =>
      targets.flatMap(({ expr }) => metricsIn(expr)),
    );
    for (const shown of [alerts, drawn]) expect(shown).toEqual(expect.arrayContaining(failures));
  });

  it('work with any data source', () => {
    expect(dashboard.templating.list).toContainEqual(
      expect.objectContaining({ name: 'datasource', type: 'datasource' }),
    );
    const uids = [...dashboardText.matchAll(/"uid": "([^"]*)"/g)].map(([, uid]) => uid);
    expect(new Set(uids)).toEqual(new Set(['${datasource}']));
  });

  it('have every metric of the gateway described in the manual', () => {
    const own = [...now.families.keys()].filter((name) => !/^(nodejs|process)_/.test(name));
    expect(own.filter((name) => !manual.includes(`\`${name}\``))).toEqual([]);
  });
});
