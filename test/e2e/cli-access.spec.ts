import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { launch, type Run } from '../kit/command-line.js';
import { launchGateway, writeConfig, type Gateway, type GatewayConfig } from '../kit/gateway.js';
import { freePort } from '../kit/http.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { tempDir } from '../kit/temp-dir.js';
import { until } from '../kit/until.js';

let slow: ScriptedServer;
let config: string;
let stateDir: string;
let gateway: Gateway;
let key: string;
let fileContent: GatewayConfig & { mcpServers: Record<'slow' | 'other', object> };

/** Runs a command on the machine of the gateway, which it finds through the configuration. */
const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Run> => start(args, env).done;

const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  launch(args, { GATEHOUSE_CONFIG: config, GATEHOUSE__HTTP__PORT: new URL(gateway.url).port, ...env });

beforeAll(async () => {
  slow = (await ScriptedServer.start()).tool('wait', () => undefined).tool('say', () => text('said'));
  const created = await launch(['key', 'create', 'ci', '--project', 'slow', '-o', 'json']).done;
  key = String(created.json['key']);
  stateDir = join(tempDir(), 'state');
  fileContent = {
    stateDir,
    admin: { token: ADMIN_TOKEN },
    mcpServers: { slow: slow.http, other: slow.http },
    projects: { slow: { servers: ['slow'] }, other: { servers: ['other'] } },
    auth: { apiKeys: [created.json['entry']] },
  };
  config = writeConfig(fileContent);
  // With the keys that every gateway of the tests gets.
  fileContent = JSON.parse(readFileSync(config, 'utf8')) as typeof fileContent;
  gateway = launchGateway(['--config', config]);
  await gateway.listening();
  await gateway.listed({ tools: ['slow'] }, { authorization: `Bearer ${key}` });
});

/** Replaces KEY by the key, which is created after the table of cases. */
const withKey = (word: string): string => (word === 'KEY' ? key : word);
const envWithKey = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, withKey(value!)]));

describe('client key', () => {
  it('is printed with its entry for the configuration', async () => {
    const { code, stdout } = await run(['key', 'create', 'ci', '-p', 'slow', 'other', '-e', '2027-01-01']);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^gatehouse_\S{43}\n\nAdd under auth\.apiKeys[^\n]*\n- \{ id: "ci", hash: "sha256:[0-9a-f]{64}", projects: \["slow", "other"\], expires: "2027-01-01" \}\n$/,
    );
  });

  it('is not created with an invalid option', async () => {
    const { code, stderr } = await run(['key', 'create', 'ci', '-p', 'slow', '-e', 'tomorrow']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('expires: ')]);
  });

  it.each<[string, number, string[], NodeJS.ProcessEnv, string]>([
    ['no key', 4, [], {}, 'the gateway requires an API key: give --key, or set GATEHOUSE_KEY'],
    ['an unknown key', 4, ['--key', `gatehouse_${'x'.repeat(43)}`], {}, 'the gateway refused the API key'],
    ['a key of the environment', 0, [], { GATEHOUSE_KEY: 'KEY' }, ''],
    ['a key and its project', 0, ['--key', 'KEY', '--project', 'slow'], {}, ''],
    [
      'a key and a project that it does not grant',
      1,
      ['--key', 'KEY', '--project', 'other'],
      {},
      'Unknown project: other',
    ],
  ])('grants its projects: %s exits with %i', async (_what, code, options, env, words) => {
    const found = await run(['tools', 'call', 'slow__say', ...options.map(withKey)], envWithKey(env));
    expect(found.stderr).toContain(words);
    expect(found).toMatchObject({ code, stdout: code === 0 ? 'said\n' : '' });
  });
});

describe('tools call', () => {
  it('cancels the call at Ctrl-C and exits with 130 without output', async () => {
    const before = slow.countOf('tools/call');
    const { child, done } = start(['tools', 'call', 'slow__wait', '--key', key]);
    await until('the call reached the server', () => slow.countOf('tools/call') > before);
    child.kill('SIGINT');
    expect(await done).toMatchObject({ code: 130, stdout: '', stderr: '' });
    await until('the server got the cancellation', () => slow.countOf('notifications/cancelled') === 1);
  });
});

describe('audit verify', () => {
  it('verifies the audit log of the configured state directory', async () => {
    const admin = new AdminClient(gateway);
    expect(await admin.put('projects/more', { servers: ['slow'] })).toMatchObject({ status: 201 });
    const file = join(stateDir, 'audit.jsonl');
    expect(await run(['audit', 'verify'])).toMatchObject({
      code: 0,
      stdout: `${file}: 2 entries, all intact\n`,
    });
    expect((await run(['audit', 'verify', '--config', config, '-o', 'json'])).json).toEqual({
      file,
      ok: true,
      entries: 2,
      notes: [],
    });
  });

  it('fails at a changed entry', async () => {
    const copy = join(tempDir(), 'audit.jsonl');
    writeFileSync(copy, readFileSync(join(stateDir, 'audit.jsonl'), 'utf8').replace('admin', 'intruder'));
    const [words, json] = await Promise.all([
      run(['audit', 'verify', copy]),
      run(['audit', 'verify', copy, '-o', 'json']),
    ]);
    expect([words.code, words.stderr]).toEqual([1, expect.stringContaining(`${copy}, line 1: `)]);
    expect([json.code, json.json]).toMatchObject([1, { ok: false, line: 1 }]);
  });

  it('fails if the named file does not exist', async () => {
    expect(await run(['audit', 'verify', '/nonexistent/audit.jsonl'])).toMatchObject({
      code: 2,
      stderr: 'gatehouse: /nonexistent/audit.jsonl does not exist\n',
    });
  });
});

/** Writes the configuration file and has it read. Returns the outcome of the reload. */
async function reload(content: object): Promise<Record<string, unknown>> {
  writeFileSync(config, JSON.stringify({ ...fileContent, ...content }));
  return (await adminClient().post('config/reload')).json;
}

const adminClient = (): AdminClient => new AdminClient(gateway);

const otherWith = (settings: object): object => ({
  mcpServers: { ...fileContent.mcpServers, other: { ...fileContent.mcpServers.other, ...settings } },
});

const isOtherEnabled = async (): Promise<unknown> =>
  (await adminClient().get('servers/other')).json['enabled'];

/** The tools of the server `other`, as JSON. */
const otherTools = async (): Promise<string> => (await adminClient().get('tools?server=other')).text;

const decisionIds = async (): Promise<string[]> =>
  ((await adminClient().get('decisions')).json['decisions'] as { id: string }[]).map(({ id }) => id);

describe('decisions', () => {
  const OTHER = 'server:other:enabled';
  /** Made by a test above. */
  const MORE = 'project:more';

  it('that return to the value of the file leave the file in effect', async () => {
    await adminClient().post('servers/other/disable');
    expect(await decisionIds()).toEqual([OTHER, MORE]);
    await adminClient().post('servers/other/enable');
    expect(await decisionIds()).toEqual([MORE]);
    await reload(otherWith({ enabled: false }));
    expect(await isOtherEnabled()).toBe(false);
    await reload({});
    expect(await isOtherEnabled()).toBe(true);
  });

  it('are listed with who decided and when, and cleared', async () => {
    // The server was enabled by the test above, and its tools are not known before its first sync.
    await until('the tool is disabled', async () => {
      const { status } = await adminClient().post('servers/other/tools/say/disable');
      return status === 200;
    });
    await adminClient().post('servers/other/disable');
    const [table, server] = await Promise.all([run(['decisions', 'ls']), run(['servers', 'show', 'other'])]);
    expect(table.stdout).toMatch(/^DECISION +CHANGE +BY +AGE +EFFECT\n/);
    expect(table.stdout).toMatch(/server:other:enabled +disabled +admin +\d+s +overrules the file\n/);
    expect(table.stdout).toMatch(/tool:other:say +disabled +admin +\d+s +overrules the file\n/);
    expect(server.stdout).toMatch(/decided +disabled by admin at 20\S+Z, overrules the file\n/);
    expect(await run(['decisions', 'clear', OTHER])).toMatchObject({ code: 0, stdout: `${OTHER} cleared\n` });
    expect(await isOtherEnabled()).toBe(true);
    const [again, none] = await Promise.all([
      run(['decisions', 'clear', OTHER]),
      run(['decisions', 'clear']),
    ]);
    expect(again).toMatchObject({ code: 1, stderr: `gatehouse: there is no decision \`${OTHER}\`\n` });
    expect(none.code).toBe(2);
    expect(await run(['decisions', 'clear', '--all'])).toMatchObject({ stdout: '1 decision cleared\n' });
    expect(await decisionIds()).toEqual([MORE]);
  });

  it('about a tool are shown where it is listed, with who decided and when', async () => {
    await reload(otherWith({ tools: { disabled: ['say'] } }));
    await until('the tool is disabled', async () => !(await otherTools()).includes('other__say'));
    await until('the tool is known', async () => {
      const { status } = await adminClient().post('servers/other/tools/say/enable');
      return status === 200;
    });
    const { json } = await adminClient().get('tools?server=other&q=say');
    expect(json['tools']).toMatchObject([
      {
        name: 'other__say',
        origin: 'admin',
        decision: { id: 'tool:other:say', change: 'enabled', by: 'admin', overrules: true },
      },
    ]);
    const { stdout } = await run(['tools', 'ls', '--server', 'other']);
    expect(stdout).toMatch(/^TOOL +SERVER +DESCRIPTION +DECIDED\n/);
    expect(stdout).toMatch(/^other__say .*enabled by admin at 20\S+Z, overrules the file$/m);
    await adminClient().delete('decisions/tool:other:say');
    await reload({});
    const { json: again } = await adminClient().get('tools?server=other&q=say');
    expect(again['tools']).toMatchObject([{ name: 'other__say', origin: 'config' }]);
  });

  it('that overrule a reload are named by it, the log and a metric', async () => {
    await adminClient().post('servers/other/disable');
    expect(await reload(otherWith({ timeoutMs: 5000 }))).toMatchObject({ ok: true, overruledBy: [OTHER] });
    await adminClient().patch('servers/other', { timeoutMs: 4000 });
    const from = gateway.logs.length;
    writeFileSync(config, JSON.stringify({ ...fileContent, ...otherWith({ timeoutMs: 3000 }) }));
    expect(await run(['config', 'reload'])).toMatchObject({
      code: 0,
      stdout: 'the configuration was reloaded\n',
      stderr: expect.stringContaining('overruled by decisions: server:other:definition\n'),
    });
    const { decisions } = await gateway.logged({ context: 'Decisions', level: 'warn' }, from);
    expect(decisions).toEqual(['server:other:definition']);
    const { text: metrics } = await adminClient().get('/metrics');
    expect(metrics).toMatch(/^gatehouse_overruled_changes_total 1$/m);
    expect(metrics).toMatch(/^gatehouse_decisions\{effect="overruling"\} 1$/m);
    expect((await run(['status'])).stdout).toMatch(/configuration +accepted \S+; overruled by 1 decision\n/);
    await adminClient().delete('decisions/server:other:definition');
    await reload({});
  });

  it('change nothing that the file defines with the policy file, except as emergency switches', async () => {
    await adminClient().post('servers/other/disable');
    const from = gateway.logs.length;
    await reload({ decisions: { policy: 'file' } });
    await gateway.logged({ message: 'decisions are ignored, because decisions.policy is file' }, from);
    expect(await isOtherEnabled()).toBe(true);
    expect((await run(['decisions', 'ls'])).stdout).toContain('ignored: decisions.policy is file');
    const refused = { status: 409, json: { type: 'urn:gatehouse:problem:defined-in-file' } };
    expect(await adminClient().patch('servers/other', { timeoutMs: 4000 })).toMatchObject(refused);
    expect(await adminClient().delete('servers/other')).toMatchObject(refused);
    expect(await adminClient().put('projects/other', { servers: [] })).toMatchObject(refused);
    expect(await run(['disable', 'other'])).toMatchObject({ code: 0 });
    expect(await isOtherEnabled()).toBe(false);
    expect((await run(['decisions', 'ls'])).stdout).toMatch(/server:other:enabled .*emergency switch\n/);
    await adminClient().delete(`decisions/${OTHER}`);
    expect(await isOtherEnabled()).toBe(true);
    await reload({ ...otherWith({ enabled: false }), decisions: { policy: 'file' } });
    expect(await adminClient().post('servers/other/enable')).toMatchObject(refused);
    expect(await isOtherEnabled()).toBe(false);
    await reload({});
  });

  it('of the policy file switch off a tool or a key in an emergency, until they are cleared', async () => {
    const TOOL = 'tool:other:say';
    const KEY = 'key:ci';
    await reload({ decisions: { policy: 'file' } });
    await until('the tool is known', async () => {
      const { status } = await adminClient().post('servers/other/tools/say/disable');
      return status === 200;
    });
    expect(await otherTools()).not.toContain('other__say');
    expect(await run(['key', 'revoke', 'ci'])).toMatchObject({ code: 0 });
    expect(await run(['tools', 'call', 'slow__say', '--key', key])).toMatchObject({ code: 4 });
    await gateway.logged({ message: 'token refused', reason: 'the key ci is revoked' });
    const { stdout } = await run(['decisions', 'ls']);
    for (const id of [TOOL, KEY]) expect(stdout).toMatch(new RegExp(`^${id} .*emergency switch$`, 'm'));
    expect((await run(['servers', 'show', 'other'])).stdout).toMatch(
      /disabled tools +say \(disabled by admin at 20\S+Z, emergency switch\)/,
    );
    expect((await run(['key', 'ls'])).stdout).toMatch(/^ci +revoked .*emergency switch$/m);
    for (const id of [TOOL, KEY]) expect(await run(['decisions', 'clear', id])).toMatchObject({ code: 0 });
    expect(await otherTools()).toContain('other__say');
    expect(await run(['tools', 'call', 'slow__say', '--key', key])).toMatchObject({ code: 0 });
    await reload({});
  });

  it('about keys refuse them until they are cleared, and accept a new key under the same id', async () => {
    expect((await run(['key', 'ls'])).stdout).toMatch(
      /^KEY +STATE +PROJECTS +EXPIRES +SESSIONS +DECIDED\nci +active +slow +never +/,
    );
    expect(await run(['key', 'revoke', 'ci'])).toMatchObject({ code: 0, stdout: 'ci is revoked\n' });
    expect((await adminClient().get('keys')).json['keys']).toMatchObject([
      { id: 'ci', state: 'revoked', sessions: 0, decision: { id: 'key:ci', by: 'admin' } },
    ]);
    expect(await run(['tools', 'call', 'slow__say', '--key', key])).toMatchObject({ code: 4 });
    const { json: renewed } = await run(['key', 'create', 'ci', '--project', 'slow', '-o', 'json']);
    await reload({ auth: { apiKeys: [renewed['entry']] } });
    const call = ['tools', 'call', 'slow__say', '--key'];
    expect(await run([...call, String(renewed['key'])])).toMatchObject({ code: 0 });
    await reload({});
    expect(await run([...call, key])).toMatchObject({ code: 4 });
    await adminClient().delete('decisions/key:ci');
    expect(await run([...call, key])).toMatchObject({ code: 0 });
  });
});

describe('status', () => {
  it('finds the gateway while its configuration file is broken, and shows that it was refused', async () => {
    const { port } = new URL(gateway.url);
    writeFileSync(
      config,
      `http: { port: ${port} }\nadmin: { token: ${ADMIN_TOKEN} }\nlimits: { pageSize: [\n`,
    );
    await until('the file was refused', async () => (await adminClient().get('config')).json['ok'] === false);
    const { code, stdout, stderr } = await run(['status'], { GATEHOUSE__HTTP__PORT: undefined });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `${config} is invalid; using what can be read of it to find the gateway\n`,
    });
    expect(stdout).toMatch(
      /configuration +refused[^]*\nconfig +degraded +invalid configuration \S+: [^\\\n]+\n/,
    );
    await reload({});
  });

  it('asks for no restart after a change was reverted', async () => {
    expect(await reload({ limits: { pageSize: 7 } })).toMatchObject({ restartNeeded: ['limits'] });
    expect((await run(['status'])).stdout).toContain('restart needed for limits');
    expect(await reload({})).toMatchObject({ restartNeeded: [] });
  });
});

describe('healthcheck', () => {
  it('finds the gateway by configuration, environment or option', async () => {
    const url = gateway.urlOf('/');
    const runs = await Promise.all([
      run(['healthcheck']),
      run(['healthcheck'], { GATEHOUSE_CONFIG: undefined, GATEHOUSE_URL: url }),
      run(['healthcheck', '--url', url], { GATEHOUSE__HTTP__PORT: '9' }),
    ]);
    expect(runs).toMatchObject(runs.map(() => ({ code: 0, stdout: '', stderr: '' })));
  });

  it('fails if the connection is refused', async () => {
    const port = String(await freePort());
    expect(await run(['healthcheck'], { GATEHOUSE__HTTP__PORT: port })).toMatchObject({
      code: 1,
      stderr: `gatehouse: http://127.0.0.1:${port} is not healthy\n`,
    });
  });

  it('reaches a gateway that listens on all addresses, as in the container', async () => {
    const { port } = new URL(gateway.url);
    const env = { GATEHOUSE_CONFIG: 'docker/gatehouse.yaml', GATEHOUSE__HTTP__PORT: port };
    expect(await run(['healthcheck'], env)).toMatchObject({ code: 0 });
  });

  it('does not depend on a configuration file that became invalid', async () => {
    const broken = join(tempDir(), 'broken.yaml');
    writeFileSync(broken, 'http: {');
    const { code, stderr } = await run(['healthcheck'], {
      GATEHOUSE_CONFIG: broken,
      GATEHOUSE__HTTP__PORT: undefined,
    });
    expect([0, 1]).toContain(code);
    expect(stderr).not.toContain('broken.yaml');
  });
});
