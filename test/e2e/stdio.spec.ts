import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { launch, type Run } from '../kit/command-line.js';
import { launchGateway, startGateway, writeConfig, type Gateway } from '../kit/gateway.js';
import { freePort } from '../kit/http.js';
import { exitOf, killAfterTest, type Exit } from '../kit/processes.js';
import { MAIN, NODE } from '../kit/program.js';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { tempDir } from '../kit/temp-dir.js';
import { until, within } from '../kit/until.js';

type Message = Record<string, unknown>;

/** `gatehouse stdio` as a process, and a client that writes and reads its lines. */
class StdioClient {
  readonly lines: string[] = [];
  readonly exited: Promise<Exit>;
  private readonly child;
  private lastId = 0;

  constructor(url: string) {
    const { PATH, HOME } = process.env;
    this.child = spawn(NODE, [MAIN, 'stdio', '--url', url], {
      env: { PATH, HOME },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.exited = exitOf(this.child);
    killAfterTest(this.child, this.exited);
    createInterface({ input: this.child.stdout }).on('line', (line) => this.lines.push(line));
  }

  get messages(): Message[] {
    return this.lines.map((line) => JSON.parse(line) as Message);
  }

  send(message: Message): void {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  async request(method: string, params: object = {}): Promise<Message> {
    const id = ++this.lastId;
    this.send({ id, method, params });
    return this.answerTo(id);
  }

  answerTo(id: number): Promise<Message> {
    return until(
      `the answer to request ${id}`,
      () => this.messages.find((message) => message['id'] === id && !('method' in message)),
      25_000,
    );
  }

  async open(): Promise<void> {
    const capabilities = { sampling: {} };
    const clientInfo = { name: 'stdio-client', version: '1' };
    await this.request('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
    this.send({ method: 'notifications/initialized' });
  }

  count(method: string): number {
    return this.messages.filter((message) => message['method'] === method).length;
  }

  end(): Promise<Exit> {
    this.child.stdin.end();
    return within('the stdio server to exit', this.exited);
  }
}

describe('gatehouse stdio', () => {
  let server: ScriptedServer;
  let gateway: Gateway;
  let config: string;
  let port: number;

  const start = async (): Promise<void> => {
    gateway = launchGateway(['--config', config], { GATEHOUSE__HTTP__PORT: String(port) });
    await gateway.listening();
    await gateway.listed({ tools: ['s'] });
  };

  beforeAll(async () => {
    server = await ScriptedServer.start();
    server
      .resource('x:a')
      .resource('x:b')
      .tool('echo', () => text('hello'))
      .tool('ask', async (call) => {
        const { result } = await call.sendRequest('sampling/createMessage', { n: 1 });
        return text(JSON.stringify(result));
      });
    config = writeConfig({ admin: { token: ADMIN_TOKEN }, mcpServers: { s: server.http } });
    port = await freePort();
    await start();
  }, 60_000);

  it('writes the same text as the endpoint, forwards requests of servers, and ends its session with stdin', async () => {
    const client = new StdioClient(gateway.url);
    await client.open();
    const session = await RawSession.open(gateway.url);
    const list = { jsonrpc: '2.0', id: 'list', method: 'tools/list' };
    const answered = await session.post(list);
    client.send(list);
    await until('the list arrives', () => client.lines.includes(answered.text.trim()));

    const call = client.request('tools/call', { name: 's__ask', arguments: {} });
    const asked = await until('the request of the server arrives', () =>
      client.messages.find(({ method }) => method === 'sampling/createMessage'),
    );
    expect(asked['params']).toMatchObject({ n: 1 });
    client.send({ id: asked['id'], result: { answer: 42 } });
    expect((await call)['result']).toEqual(text('{"answer":42}'));

    expect(await client.end()).toEqual({ code: 0, signal: null });
    await session.end();
    const admin = new AdminClient(gateway);
    await until('no session is left', async () => (await admin.get('sessions')).json['total'] === 0);
  });

  it('initialises and subscribes again after the gateway has ended its session, with one update per resource', async () => {
    const client = new StdioClient(gateway.url);
    await client.open();
    const uris = ['a', 'b'].map((name) => `resource://s/x:${name}`);
    for (const uri of uris)
      expect((await client.request('resources/subscribe', { uri }))['result']).toEqual({});
    const updates = (): string[] =>
      client.messages
        .filter(({ method }) => method === 'notifications/resources/updated')
        .map(({ params }) => String((params as Message)['uri']))
        .toSorted();

    const admin = new AdminClient(gateway);
    const { json } = await until('only its session is open', async () => {
      const sessions = await admin.get('sessions');
      return sessions.json['total'] === 1 && sessions;
    });
    const [session] = json['sessions'] as { id: string }[];
    expect((await admin.delete(`sessions/${session!.id}`)).status).toBe(204);
    await until('both updates arrive', () => updates().length >= 2, 25_000);
    expect(updates()).toEqual(uris);

    server.broadcast('notifications/resources/updated', { uri: 'x:b' });
    await until('an update of the server arrives', () => updates().length > 2, 25_000);
    expect(updates()).toEqual([...uris, uris[1]]);
    expect(await client.end()).toEqual({ code: 0, signal: null });
  }, 90_000);

  it('answers requests made during a restart of the gateway, and receives notifications before and after', async () => {
    const client = new StdioClient(gateway.url);
    await client.open();
    let changes = 0;
    const untilListChanged = async (): Promise<void> => {
      const before = client.count('notifications/tools/list_changed');
      await until(
        'list_changed arrives',
        () => {
          // A change before the stream is open again is not sent.
          server.withoutTool(`more-${changes}`).tool(`more-${++changes}`, () => text('x'));
          server.broadcast('notifications/tools/list_changed');
          return client.count('notifications/tools/list_changed') > before;
        },
        25_000,
      );
    };
    await untilListChanged();
    await gateway.stop();
    const echo = client.request('tools/call', { name: 's__echo', arguments: {} });
    const listing = client.request('tools/list');
    await start();
    // The server may still be connecting when the call arrives.
    expect((await echo)['jsonrpc']).toBe('2.0');
    expect((await listing)['result']).toBeDefined();
    const again = await client.request('tools/call', { name: 's__echo', arguments: {} });
    expect(again['result']).toEqual(text('hello'));
    await untilListChanged();
    expect(await client.end()).toEqual({ code: 0, signal: null });
  }, 90_000);

  it('is what gatehouse connect writes for Claude Desktop', async () => {
    const file = join(tempDir(), 'claude_desktop_config.json');
    const args = ['connect', 'claude-desktop', '-u', gateway.url, '--file', file];
    expect((await launch(args).done).stdout).toContain('"stdio"');
    expect(existsSync(file)).toBe(false);
    expect(await launch([...args, '--write']).done).toMatchObject({
      code: 0,
      stdout: `${file} was written\n`,
    });
    const { mcpServers } = JSON.parse(readFileSync(file, 'utf8')) as {
      mcpServers: { gatehouse: { command: string; args: string[] } };
    };
    expect(mcpServers.gatehouse).toEqual({
      command: NODE,
      args: [join(process.cwd(), MAIN), 'stdio', '--url', new URL(gateway.url).origin],
    });
  });
});

/** What `gatehouse connect` prints. */
const connectOutput = async (...args: string[]): Promise<string> => {
  const { stdout, stderr } = await launch(['connect', ...args]).done;
  return stdout + stderr;
};

describe('gatehouse init and connect', () => {
  it('write a file that the gateway accepts, and print what a client needs', async () => {
    const file = join(tempDir(), 'g.yaml');
    expect(await launch(['init', file]).done).toMatchObject({ code: 0 });
    const [check, again, connect, inspector] = await Promise.all(
      [
        ['config', 'check', file],
        ['init', file],
        ['connect', 'vscode', '-c', file, '-k', 'secret-key', '-p', 'docs', '-o', 'json'],
        ['connect', 'inspector', '-c', file, '--write'],
      ].map((args) => launch(args).done),
    );
    expect(check!.stdout).toContain('is valid: 0 servers');
    expect(again).toMatchObject({
      code: 1,
      stderr: `gatehouse: ${file} exists already and was not changed\n`,
    });
    expect(connect!.json).toMatchObject({
      file: '.vscode/mcp.json',
      config: { servers: { gatehouse: { url: 'http://127.0.0.1:3000/projects/docs/mcp' } } },
    });
    expect(connect!.stdout).not.toContain('secret-key');
    expect(inspector).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('npx @modelcontextprotocol/inspector'),
    });
  });

  it('add the gateway to the file of a client, keep what is there, and refuse a file with comments', async () => {
    const file = join(tempDir(), 'mcp.json');
    const theirs = { mcpServers: { other: { command: 'x' } }, theme: 'dark' };
    writeFileSync(file, JSON.stringify(theirs));
    const write = (): Promise<Run> =>
      launch(['connect', 'cursor', '-u', 'http://127.0.0.1:9', '--file', file, '--write']).done;
    expect(await write()).toMatchObject({ code: 0, stdout: `${file} was changed\n` });
    const merged = { ...theirs.mcpServers, gatehouse: { url: 'http://127.0.0.1:9/mcp' } };
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ ...theirs, mcpServers: merged });
    expect(await write()).toMatchObject({ code: 0, stdout: `${file} needs no change\n` });
    const commented = '{ "mcpServers": {} } // mine\n';
    writeFileSync(file, commented);
    expect(await write()).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(file) });
    expect(readFileSync(file, 'utf8')).toBe(commented);
  });

  it('say how to get a client key where the gateway requires one', async () => {
    const auth = { apiKeys: [{ id: 'ci', hash: `sha256:${'0'.repeat(64)}`, projects: ['*'] }] };
    const port = await freePort();
    const stopped = writeConfig({ auth, http: { port } });
    const [guarded, open] = await Promise.all([startGateway({ auth }), startGateway({})]);
    const out = join(tempDir(), 'mcp.json');
    const [fromGateway, fromFile, written, json, withoutAuth] = await Promise.all([
      connectOutput('cursor', '-u', guarded.url),
      connectOutput('claude-code', '-c', stopped),
      connectOutput('cursor', '-u', guarded.url, '--file', out, '--write'),
      connectOutput('inspector', '-u', guarded.url, '-o', 'json'),
      connectOutput('cursor', '-u', open.url),
    ]);
    for (const printed of [fromGateway, fromFile, written]) expect(printed).toContain('gatehouse key create');
    expect(fromGateway).toContain('Bearer ${env:GATEHOUSE_KEY}');
    expect(fromFile).toContain('--header "Authorization: Bearer $GATEHOUSE_KEY"');
    expect(readFileSync(out, 'utf8')).toContain('Bearer ${env:GATEHOUSE_KEY}');
    expect(JSON.parse(json)).toMatchObject({ note: 'Enter the client key under Authentication.' });
    expect(withoutAuth).not.toContain('key');
  });
});
