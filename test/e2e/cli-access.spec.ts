import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { launch, type Run } from '../kit/command-line.js';
import { launchGateway, writeConfig, type Gateway } from '../kit/gateway.js';
import { freePort } from '../kit/http.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { tempDir } from '../kit/temp-dir.js';
import { until } from '../kit/until.js';

let slow: ScriptedServer;
let config: string;
let stateDir: string;
let gateway: Gateway;
let key: string;

/** Runs a command on the machine of the gateway, which it finds through the configuration. */
const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Run> => start(args, env).done;

const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  launch(args, { GATEHOUSE_CONFIG: config, GATEHOUSE__HTTP__PORT: new URL(gateway.url).port, ...env });

beforeAll(async () => {
  slow = (await ScriptedServer.start()).tool('wait', () => undefined).tool('say', () => text('said'));
  const created = await launch(['key', 'create', 'ci', '--project', 'slow', '-o', 'json']).done;
  key = String(created.json['key']);
  stateDir = join(tempDir(), 'state');
  config = writeConfig({
    stateDir,
    admin: { token: ADMIN_TOKEN },
    mcpServers: { slow: slow.http, other: slow.http },
    projects: { slow: { servers: ['slow'] }, other: { servers: ['other'] } },
    auth: { apiKeys: [created.json['entry']] },
  });
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
    ['an unknown key', 4, ['--key', `gatehouse_${'x'.repeat(43)}`], {}, 'the gateway requires an API key'],
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
