import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient, VIEWER_TOKEN } from '../kit/admin-client.js';
import { launch, type Run } from '../kit/command-line.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { MAIN, NODE } from '../kit/program.js';
import { RawSession } from '../kit/raw-session.js';
import { everythingOverStdio } from '../kit/real-servers.js';
import { tempDir } from '../kit/temp-dir.js';
import { filesServer } from '../kit/tui-files-server.js';
import { PseudoTerminal } from '../kit/pseudo-terminal.js';
import { until, within } from '../kit/until.js';

const APP_LOG = 'resource://files/file:///logs/app.log';

let gateway: Gateway;
let admin: AdminClient;
let files: Awaited<ReturnType<typeof filesServer>>;

/** Runs a command as a script with the address and token of the gateway in its environment. */
const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}, input = ''): Promise<Run> =>
  launch(args, { GATEHOUSE_URL: gateway?.urlOf('/'), GATEHOUSE_ADMIN_TOKEN: ADMIN_TOKEN, ...env }, input)
    .done;

beforeAll(async () => {
  files = await filesServer();
  gateway = await startGateway({
    admin: { token: ADMIN_TOKEN, viewerToken: VIEWER_TOKEN },
    mcpServers: { everything: everythingOverStdio(), files: files.http, absent: { command: '/nonexistent' } },
    projects: { logs: { servers: ['files'], description: 'what was logged' } },
  });
  await gateway.listed({ tools: ['everything', 'files'] });
  admin = new AdminClient(gateway);
  await until('every resource is listed', async () => (await admin.get('resources')).json['total'] === 10);
});

describe('command line, showing a gateway', () => {
  it('shows the status of the gateway', async () => {
    const [table, json] = await Promise.all([run(['status']), run(['status', '-o', 'json'])]);
    expect(table.stdout).toMatch(
      /status +degraded[\s\S]*servers +2 of 3 ready[\s\S]*resources +10, 3 templates/,
    );
    expect(table.stdout).toMatch(/absent +\S+ +.*ENOENT/);
    expect(json.json).toMatchObject({ status: 'degraded', servers: { ready: 2, total: 3 }, resources: 10 });
    expect([table.code, json.code]).toEqual([0, 0]);
  });

  it('lists servers and shows one', async () => {
    const [table, json, one, other] = await Promise.all([
      run(['servers', 'ls']),
      run(['servers', 'ls', '-o', 'json']),
      run(['servers', 'show', 'absent']),
      run(['servers', 'show', 'everything']),
    ]);
    expect(table.stdout).toMatch(/^SERVER +STATE +TRANSPORT [\s\S]*\nfiles +ready +http /);
    expect(json.json['servers']).toHaveLength(3);
    expect(one.stdout).toMatch(/state +[\w-]+\n +cause +not-found\n +reason +.*ENOENT/);
    expect(other.stdout).toMatch(/tools +15\n +prompts +4\n +resources +7\n +templates +2\n/);
  });

  it('lists servers with their calls and what they offer', async () => {
    const session = await RawSession.open(gateway.url);
    for (const message of ['first', 'second']) await session.callTool('everything__echo', { message });
    await session.end();
    const { calls } = (await admin.get('servers/everything')).json;
    expect(calls).toBeGreaterThan(1);
    const [titles, row] = (await run(['servers', 'ls'])).stdout.split('\n').map((line) => line.split(/ +/));
    expect(Object.fromEntries(titles!.map((title, at) => [title, row![at]]))).toMatchObject({
      SERVER: 'everything',
      CALLS: String(calls),
      TOOLS: '15',
      PROMPTS: '4',
      RESOURCES: '7',
      TEMPLATES: '2',
    });
  });

  it('lists tools, prompts, projects and subscriptions, and ends a subscription', async () => {
    const session = await RawSession.open(gateway.url);
    await session.request('resources/subscribe', { uri: APP_LOG });
    const [tools, prompts, projects, subs] = await Promise.all([
      run(['tools', 'ls', '--server', 'files']),
      run(['prompts', 'ls', '-q', 'argument', '-n', '2', '-o', 'json']),
      run(['projects', 'ls']),
      run(['subs', 'ls']),
    ]);
    expect(tools.stdout.split('\n').map((line) => line.split(' ')[0])).toEqual([
      'TOOL',
      'files__fail',
      'files__index',
      '',
    ]);
    expect(prompts.json['prompts']).toHaveLength(2);
    expect(projects.stdout).toMatch(/logs +files +what was logged/);
    expect(subs.stdout).toMatch(
      /raw +files +resource:\/\/files\/file:\/\/\/logs\/app\.log +(open|none) +\d+s/,
    );
    const [id] = subs.stdout.split('\n')[1]!.split(' ');
    const [found, nothing] = await Promise.all([
      run(['subs', 'ls', '--query', 'raw LOGS', '-o', 'json']),
      run(['subs', 'ls', '--query', 'raw nowhere', '-o', 'json']),
    ]);
    expect([found.json, nothing.json]).toMatchObject([{ subscriptions: [{ id }] }, { subscriptions: [] }]);
    expect(await run(['subs', 'end', id!])).toMatchObject({ code: 0 });
    expect((await run(['subs', 'ls'])).stderr).toContain('no subscriptions');
    await session.end();
  });

  it.each([
    ['tools', 2, ''],
    ['tools', 1, 'more entries exist; raise --limit to see them\n'],
    ['resources', 1, 'more entries exist; raise --limit to see them\n'],
  ])('notes on stderr whether --limit left out %s: %i', async (list, limit, stderr) => {
    for (const format of ['table', 'json']) {
      const args = [list, 'ls', '--server', 'files', '--limit', String(limit), '-o', format];
      expect(await run(args)).toMatchObject({ code: 0, stderr });
    }
  });

  it('lists resources by server, words and project', async () => {
    const [all, found, foundTemplates, templates, ofProject] = await Promise.all([
      run(['resources', 'ls', '-o', 'json']),
      run(['resources', 'search', 'error', 'log']),
      run(['resources', 'search', '--templates', 'one', 'service']),
      run(['resources', 'ls', '--templates', '--server', 'files']),
      run(['resources', 'ls', '--project', 'logs']),
    ]);
    expect(all.json['resources']).toHaveLength(10);
    expect(found.stdout).toMatch(
      /^URI +NAME +TYPE +SIZE\nresource:\/\/files\/file:\/\/\/logs\/error\.log +error\.log +text\/plain +512 B\n$/,
    );
    expect(templates.stdout).toMatch(
      /resource:\/\/files\/file:\/\/\/logs\/\{name\}\.log +log +The log of one service/,
    );
    expect(foundTemplates.stdout).toBe(templates.stdout);
    expect(ofProject.stdout).not.toContain('everything');
  });
});

describe('command line as an MCP client', () => {
  it('reads text and binary resources byte for byte', async () => {
    const [log, pdf, json] = await Promise.all([
      run(['resources', 'read', APP_LOG]),
      run(['resources', 'read', 'resource://files/file:///reports/2026-q1.pdf']),
      run(['resources', 'read', APP_LOG, '-o', 'json']),
    ]);
    expect(log).toMatchObject({ code: 0, stdout: '12:00 started\n12:01 \x1b[31mready\x1b[0m\n' });
    expect(pdf.stdout).toBe('%PDF-1.7\0');
    expect(json.stdout).not.toContain('\x1b');
    expect(json.json).toMatchObject({ contents: [{ uri: APP_LOG, text: log.stdout }] });
  });

  it('calls a tool with text and JSON arguments, and fails if its result is an error', async () => {
    const [echo, sum, failing, unknown] = await Promise.all([
      run(['tools', 'call', 'everything__echo', 'message=hello']),
      run(['tools', 'call', 'everything__get-sum', '-a', '-', 'b:=3'], {}, '{"a":2}'),
      run(['tools', 'call', 'files__fail']),
      run(['tools', 'call', 'nothing']),
    ]);
    expect(echo).toMatchObject({ code: 0, stdout: 'Echo: hello\n', stderr: '' });
    expect(sum.stdout).toContain('5');
    expect((await run(['tools', 'call', 'everything__get-sum', 'a=2', 'b=40'])).stdout).toContain('42');
    expect(await run(['tools', 'call', 'everything__get-sum', 'a=two', 'b=40'])).toMatchObject({
      code: 2,
      stderr: 'gatehouse: a must be of type number, not "two"\n',
    });
    expect(failing).toMatchObject({ code: 1, stdout: 'no such file\n' });
    expect(failing.stderr).toContain('files__fail returned an error');
    expect(unknown.code).toBe(1);
    expect(unknown.stderr).toMatch(/^gatehouse: .*nothing.*\(-32602\)\n$/);
  });

  it('shows progress and escapes contents on a terminal only', async () => {
    const env = { GATEHOUSE_URL: gateway.urlOf('/') };
    const onTerminal = (...args: string[]): PseudoTerminal =>
      PseudoTerminal.run([NODE, MAIN, ...args], { columns: 80, rows: 24 }, env);
    const [calling, reading, piped] = [
      onTerminal('tools', 'call', 'files__index'),
      onTerminal('resources', 'read', APP_LOG),
      run(['tools', 'call', 'files__index']),
    ];
    await within('both to end', Promise.all([calling.exited, reading.exited]));
    expect(calling.raw).toMatch(/█+░+ +\d+% {2}\d\/4 {2}file \d/);
    await until('the bar is gone', () => calling.text.trim() === '4 files');
    expect(reading.raw).toContain('12:01 \\x1b[31mready\\x1b[0m');
    expect(await piped).toMatchObject({ code: 0, stdout: '4 files\n', stderr: '' });
  });
});

describe('command line, changing a gateway', () => {
  it('disables and enables a server, also with the short commands', async () => {
    expect(await run(['disable', 'files'])).toMatchObject({ code: 0, stdout: 'files is disabled\n' });
    expect((await admin.get('servers/files')).json).toMatchObject({ enabled: false });
    expect(await run(['servers', 'enable', 'files'])).toMatchObject({
      code: 0,
      stdout: 'files is enabled; it is ready\n',
    });
    expect((await run(['reconnect', 'files', '-o', 'json'])).json).toMatchObject({
      id: 'files',
      state: 'ready',
    });
  });

  it('disables and enables a tool', async () => {
    expect(await run(['tools', 'disable', 'files', 'fail'])).toMatchObject({
      code: 0,
      stdout: 'fail of files is disabled\n',
    });
    expect((await admin.get('servers/files')).json).toMatchObject({ counts: { disabledTools: 1 } });
    expect(await run(['tools', 'enable', 'files', 'fail'])).toMatchObject({ code: 0 });
  });
});

describe('command line, defining what the gateway serves', () => {
  it('fails to enable or reconnect a server that is not ready then', async () => {
    for (const action of ['enable', 'reconnect']) {
      const { code, stdout, stderr } = await run([action, 'absent']);
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/^gatehouse: absent is not ready but \S+\n$/),
      ]);
      expect(stdout).toMatch(/^absent is (enabled|not reconnected); it is \S+: .*ENOENT/);
    }
    expect((await run(['reconnect', 'absent', '-o', 'json'])).json).toMatchObject({ id: 'absent' });
  });

  it('adds, edits and removes a server', async () => {
    const { url } = files.http;
    const add = ['servers', 'add', 'more', `url=${url}`, 'timeoutMs=4000'];
    expect(await run(add)).toMatchObject({ code: 0, stdout: 'more is added; it is ready\n' });
    expect(await run(add)).toMatchObject({ code: 1, stdout: '' });
    expect(await run(['servers', 'edit', 'more', 'timeoutMs=5000', 'queue:=null'])).toMatchObject({
      code: 0,
      stdout: 'more is changed (timeoutMs); it is ready\n',
    });
    expect(await run(['servers', 'edit', 'more', '-d', '{"timeoutMs":5000}'])).toMatchObject({
      stdout: 'more is unchanged; it is ready\n',
    });
    expect(await run(['servers', 'edit', 'more', 'timeoutMs=soon'])).toMatchObject({ code: 1 });
    expect(await run(['servers', 'edit', 'more'])).toMatchObject({ code: 2 });
    expect(await run(['servers', 'add', 'dead', 'url=http://127.0.0.1:9/mcp'])).toMatchObject({ code: 1 });
    for (const id of ['more', 'dead'])
      expect(await run(['servers', 'rm', id])).toMatchObject({ code: 0, stdout: `${id} is removed\n` });
    expect((await admin.get('servers/more')).status).toBe(404);
  });

  it('defines and removes a project', async () => {
    const set = ['projects', 'set', 'both', 'files', 'everything', '--description', 'all of it'];
    expect(await run(set)).toMatchObject({ code: 0, stdout: 'both has files, everything\n' });
    expect((await run(['projects', 'ls'])).stdout).toMatch(
      /both +files, everything +all of it +defined by admin/,
    );
    expect(await run(['projects', 'set', 'both', 'nothing'])).toMatchObject({ code: 1 });
    expect(await run(['projects', 'rm', 'both'])).toMatchObject({ code: 0, stdout: 'both is removed\n' });
  });

  it('lists, shows and ends sessions', async () => {
    const session = await RawSession.open(gateway.urlOf('/projects/logs/mcp'));
    const listed = await run(['sessions', 'ls', '--project', 'logs', '-o', 'json']);
    const [{ id }] = listed.json['sessions'] as unknown as [{ id: string }];
    await session.request('resources/subscribe', { uri: APP_LOG });
    expect((await run(['sessions', 'ls'])).stdout).toMatch(
      new RegExp(`^SESSION +CLIENT +PRINCIPAL +PROJECT [^]*\\n${id} +raw \\S+ +anonymous +logs `),
    );
    const shown = await run(['sessions', 'show', id]);
    expect(shown.stdout).toMatch(
      /scope +logs → files\n[^]*era 2025\)\n[^]*last seen +20\S+Z\n +calls +1 \(0 running\)\n +streams +none: [^\n]+\n +subscriptions +1\n/,
    );
    const [tools, resources] = await Promise.all([
      run(['sessions', 'show', id, '--tools', '-o', 'json']),
      run(['sessions', 'show', id, '--resources', '--query', 'error']),
    ]);
    const shownTools = tools.json['tools'] as unknown as { definition: object }[];
    expect(shownTools.map(({ definition }) => definition)).toEqual(await session.list('tools'));
    expect(resources.stdout).toMatch(
      /^URI [^\n]+\nresource:\/\/files\/file:\/\/\/logs\/error\.log [^\n]+\n$/,
    );
    expect(await run(['sessions', 'end', id])).toMatchObject({ code: 0, stdout: `session ${id} ended\n` });
    expect(await run(['sessions', 'show', id])).toMatchObject({
      code: 1,
      stderr: `gatehouse: there is no session \`${id}\`\n`,
    });
  });
});

describe('command line errors', () => {
  it.each([
    [1, ['servers', 'show', 'unknown'], {}, 'there is no server `unknown`'],
    [1, ['resources', 'read', 'resource://files/nothing'], {}, 'RESOURCE_NOT_FOUND'],
    [2, ['statsu'], {}, "unknown command 'statsu', did you mean status?"],
    [1, ['sessions', 'show', 'unknown', '--tools'], {}, 'there is no session `unknown`'],
    [2, ['servers', 'ls', '-o', 'xml'], {}, 'Allowed choices are table, json'],
    [2, ['tools', 'call', 'x', 'y'], {}, 'invalid argument y'],
    [3, ['status', '--url', 'http://127.0.0.1:9'], {}, 'cannot reach the gateway at http://127.0.0.1:9'],
    [4, ['status'], { GATEHOUSE_ADMIN_TOKEN: 'not-the-token-of-it' }, 'refused the admin token'],
    [4, ['disable', 'files'], { GATEHOUSE_ADMIN_TOKEN: VIEWER_TOKEN }, 'viewer'],
  ])('exit with %i for %j', async (code, args, env, words) => {
    const { stderr, stdout, code: exited } = await run(args, env);
    expect(exited).toBe(code);
    expect(stderr).toContain(words);
    expect(stdout).toBe('');
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

describe('command line for configurations', () => {
  it('checks and prints a configuration and its schema', async () => {
    const file = join(tempDir(), 'gatehouse.yaml');
    writeFileSync(
      file,
      'admin: { token: "${TOKEN}" }\nmcpServers: { a: { command: node, disabled: true, timeout: 30 } }\n',
    );
    const broken = join(tempDir(), 'broken.yaml');
    writeFileSync(broken, 'limts: {}\n');
    const [good, bad, printed, schema] = await Promise.all([
      run(['config', 'check', file], { TOKEN: 'a-token-of-the-environment' }),
      run(['config', 'check', broken]),
      run(['config', 'print', '--config', file, '-o', 'json'], { TOKEN: 'a-token-of-the-environment' }),
      run(['config', 'schema']),
    ]);
    expect(good).toMatchObject({
      code: 0,
      stdout: `${file} is valid: 0 servers (plus 1 disabled), 0 projects\n`,
      stderr: expect.stringContaining('note: mcpServers.a.timeout is read as 30 s'),
    });
    expect(bad.code).toBe(2);
    expect(bad.stderr).toContain('limts: unknown key, did you mean `limits`?');
    expect(printed.json).toMatchObject({ http: { port: 3000 }, admin: { token: '********' } });
    expect(printed.json).not.toHaveProperty('notes');
    expect(schema.stdout).toBe(readFileSync('config/gatehouse.schema.json', 'utf8'));
  });

  it('imports the configuration of another client from stdin', async () => {
    const theirs =
      '{ "servers": { "git hub": { "type": "http", "url": "https://x.example/mcp" } } } // VS Code';
    const imported = await run(['config', 'import', '-'], {}, theirs);
    expect(imported).toMatchObject({
      code: 0,
      stdout: 'mcpServers:\n  git-hub:\n    url: https://x.example/mcp\n',
    });
    expect(imported.stderr).toContain('git hub: renamed to git-hub');
  });
});

describe('command line in a shell', () => {
  it('completes names of the gateway in bash', async () => {
    const script = [
      'eval "$(node dist/main.js completion bash)"',
      'gatehouse() { node dist/main.js "$@"; }',
      'try() { COMP_LINE="$1" COMP_POINT=${#1}; _gatehouse; echo "${COMPREPLY[*]}"; }',
      "COMP_WORDBREAKS=$' \\t\\n\"\\'><=;|&(:'",
      'try "gatehouse servers disable fi"',
      'try "gatehouse config "',
      'try "gatehouse tools disable files f"',
      'try "gatehouse tools enable files "',
      'try "gatehouse tools ls --project "',
      'try "gatehouse resources read resource://files/file:///logs/er"',
    ].join('\n');
    const env = { ...process.env, GATEHOUSE_URL: gateway.urlOf('/'), GATEHOUSE_ADMIN_TOKEN: ADMIN_TOKEN };
    const complete = (): Promise<string> =>
      new Promise((resolve, reject) =>
        execFile('bash', ['-c', script], { env, timeout: 50_000 }, (error, stdout) =>
          error ? reject(error) : resolve(stdout),
        ),
      );
    const expected = [
      'files',
      'check print import reload schema help',
      'fail',
      '',
      'logs',
      '///logs/error.log',
      '',
    ];
    // A completion is empty when the gateway takes longer than the user would wait.
    let output: string[] = [];
    await until('every name is completed in time', async () => {
      output = (await complete()).split('\n');
      return output.every((line, at) => line !== '' || expected[at] === '');
    });
    expect(output).toEqual(expected);
  });

  it('uses colours off a terminal only with FORCE_COLOR', async () => {
    const [plain, coloured] = await Promise.all([
      run(['servers', 'ls']),
      run(['servers', 'ls'], { FORCE_COLOR: '1' }),
    ]);
    expect(plain.stdout).not.toContain('\x1b');
    expect(coloured.stdout).toContain('\x1b[32mready');
  });

  it('prints examples in its help', async () => {
    const { stdout, code } = await run(['tools', 'call', '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain('$ gatehouse tools call everything__echo message=hello');
  });
});
