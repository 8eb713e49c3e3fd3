import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { launchGateway, writeConfig, type Gateway } from '../kit/gateway.js';
import { descendantsOf } from '../kit/processes.js';
import { RawSession } from '../kit/raw-session.js';
import { everythingOverStdio, memory } from '../kit/real-servers.js';
import { tempDir } from '../kit/temp-dir.js';
import { filesServer, HOSTILE_NAME } from '../kit/tui-files-server.js';
import { documented, timeless } from '../kit/tui-screens.js';
import { RealTerminal, type TerminalSize } from '../kit/tui-terminal.js';
import { until, within } from '../kit/until.js';

const SMALL = { columns: 80, rows: 24 };
const LARGE = { columns: 120, rows: 40 };
const GRAPH = 'resource://memory/memory://knowledge-graph';

let config: string;
let gateway: Gateway;
let admin: AdminClient;
let files: Awaited<ReturnType<typeof filesServer>>;

const tui = (size: TerminalSize, env: NodeJS.ProcessEnv = {}): RealTerminal =>
  RealTerminal.run([process.execPath, 'dist/main.js', 'tui', '--url', gateway.urlOf('/')], size, {
    GATEHOUSE_ADMIN_TOKEN: ADMIN_TOKEN,
    ...env,
  });

beforeAll(async () => {
  files = await filesServer();
  config = writeConfig({
    admin: { token: ADMIN_TOKEN },
    mcpServers: {
      everything: everythingOverStdio(),
      files: files.http,
      memory: memory(join(tempDir(), 'graph.jsonl')),
    },
  });
  gateway = launchGateway(['--config', config]);
  await gateway.listening();
  await gateway.listed({ tools: ['everything', 'files', 'memory'] });
  admin = new AdminClient(gateway);
  await until('every resource is listed', async () => (await admin.get('resources')).json['total'] === 11);
}, 60_000);

describe('the terminal UI on a terminal of 80x24', () => {
  let terminal: RealTerminal;

  beforeAll(async () => {
    terminal = tui(SMALL);
    await terminal.shows('▶ everything');
  }, 40_000);

  it('opens with the servers, on a screen of its own', async () => {
    await terminal.shows('5 Subscriptions 0');
    const screen = timeless(await terminal.steady());
    expect(screen).toBe(documented('servers 80x24', screen));
    expect(terminal.isAlternate).toBe(true);
  });

  it('shows all resources of all servers with URI, name, type and size, and templates in a section of their own', async () => {
    terminal.type('4');
    await terminal.shows('1 of 11');
    await terminal.shows('The log of one service');
    const screen = timeless(await terminal.steady());
    expect(screen).toBe(documented('resources 80x24', screen));
  });

  it('shows only the resources of the server that was chosen', async () => {
    terminal.type('f');
    await terminal.shows('every server');
    terminal.press('down', 'down', 'enter');
    await terminal.shows('1 of 3');
    await terminal.hides('resource://everything');
    const screen = timeless(await terminal.steady());
    expect(screen).toBe(documented('filter 80x24', screen));
    terminal.press('escape');
    await terminal.shows('1 of 11');
  });

  it('searches with every letter, marks what it finds and hides the rest', async () => {
    terminal.type('/log');
    await terminal.shows(/1 of 2 ─/);
    await terminal.hides('Q1 report');
    expect(new Set(terminal.underlined)).toEqual(new Set(['log']));
    const screen = timeless(await terminal.steady());
    expect(screen).toBe(documented('search 80x24', screen));
    terminal.press('enter');
    await terminal.shows('search: log');
  });

  it('shows everything about the selected resource at its side, and its contents on demand', async () => {
    terminal.press('enter');
    await terminal.shows('What the application did');
    const screen = timeless(await terminal.steady());
    expect(screen).toBe(documented('details 80x24', screen));
    terminal.type('p');
    await terminal.shows('12:00 started');
    expect(terminal.text).toContain('\\x1b[31mready\\x1b[0m');
    terminal.press('escape');
    await terminal.shows('Details');
    terminal.press('escape');
    await terminal.hides('Details');
    terminal.press('escape');
    await terminal.shows('1 of 11');
  });

  it('goes to the templates, and shows pattern and description of one', async () => {
    terminal.type('t');
    await terminal.shows(/▶ resource:\/\/everything/);
    terminal.press('down', 'down', 'enter');
    await terminal.shows(/original +file:\/\/\/logs\/\{name\}\.log/);
    await terminal.shows('│ The log of one service');
    const screen = timeless(await terminal.steady());
    expect(screen).toBe(documented('templates 80x24', screen));
    terminal.press('enter');
    terminal.type('t');
    await terminal.shows(/▶ resource:.*architecture/);
  });

  it('disables a server after a question, and its resources leave', async () => {
    terminal.type('1G');
    await terminal.shows('▶ memory');
    terminal.type('d');
    await terminal.shows('Disable memory?');
    const screen = timeless(await terminal.steady());
    expect(screen).toBe(documented('question 80x24', screen));
    terminal.type('y');
    await terminal.shows(/memory +disabled/);
    terminal.type('4G');
    await terminal.shows('10 of 10');
    expect(terminal.text).not.toContain('knowledge-graph');
  });

  it('follows what others do, without a key', async () => {
    await admin.post('servers/memory/enable');
    await terminal.shows('10 of 11');
    expect(terminal.text).toMatch(/resource:\/\/memor.*knowledge-graph/);
    files.files.push({ uri: `file:///${HOSTILE_NAME}`, name: HOSTILE_NAME });
    files.announce('notifications/resources/list_changed');
    await terminal.shows('of 12');
  });

  it('shows what a hostile name is made of, and obeys none of it', async () => {
    terminal.type('/owned\r');
    await terminal.shows(/Resources .* 1 of 1 ─/);
    terminal.press('enter');
    await terminal.shows('\\x1b[2J\\x1b]0;owned\\x07\\u202egol.ppa');
    expect(terminal.lines[0]).toContain('Gatehouse');
    expect(terminal.raw).not.toContain('\x1b]0;');
    terminal.press('escape');
    await terminal.hides('Details');
    terminal.press('escape');
    await terminal.shows('of 12');
  });

  it('shows who subscribes to what while it happens, and ends a subscription', async () => {
    terminal.type('5');
    await terminal.shows('no subscriptions');
    const session = await RawSession.open(gateway.url);
    expect(await session.request('resources/subscribe', { uri: GRAPH })).toMatchObject({ result: {} });
    await terminal.shows(/▶ raw +memory +resource:\/\/memory/);
    terminal.type('x');
    await terminal.shows('End the subscription to');
    terminal.type('y');
    await terminal.shows('no subscriptions');
    expect((await admin.get('subscriptions')).json).toMatchObject({ subscriptions: [] });
    await session.end();
  });

  it('switches a tool off and on again', async () => {
    terminal.type('2/create_rel\r');
    await terminal.shows('▶ memory__create_relations');
    terminal.type('dy');
    await terminal.shows(/no tools match create_rel[\s\S]*Switched off[\s\S]* {2}create_relations/);
    terminal.type('tey');
    await terminal.shows('▶ memory__create_relations');
    expect((await admin.get('servers/memory')).json).toMatchObject({ counts: { disabledTools: 0 } });
  });

  it('leaves with q, and the screen is as it was before', async () => {
    terminal.type('q');
    expect(await within('it to end', terminal.exited)).toEqual({ code: 0, signal: null });
    expect(terminal.isAlternate).toBe(false);
  });

  it('gives the screen back when it is told to end', async () => {
    const other = tui(SMALL);
    await other.shows('▶ everything');
    const [pid] = descendantsOf(other.pid).toReversed();
    process.kill(pid!, 'SIGTERM');
    await within('it to end', other.exited);
    await until('the screen is given back', () => !other.isAlternate);
    expect(other.raw).toContain('\x1b[?25h');
  });
});

describe('the terminal UI on a terminal of 120x40, without colours', () => {
  let terminal: RealTerminal;

  beforeAll(async () => {
    files.files.splice(3);
    files.announce('notifications/resources/list_changed');
    await until('the hostile one is gone', async () => (await admin.get('resources')).json['total'] === 11);
    terminal = tui(LARGE, { NO_COLOR: '1' });
    await terminal.shows('▶ everything');
  }, 40_000);

  it('has room for the list and the details side by side', async () => {
    terminal.type('4/newest\r');
    await terminal.shows(/Resources .* 1 of 1 ─/);
    await terminal.shows('no templates match newest');
    terminal.press('enter');
    await terminal.shows('48 kB (48,211 bytes)');
    const screen = timeless(await terminal.steady());
    expect(screen).toBe(documented('details 120x40', screen));
  });

  it('uses no colour', () => {
    // oxlint-disable-next-line no-control-regex -- colours are what it is about
    expect(terminal.raw).not.toMatch(/\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;\d+)*m/);
  });

  it('follows the size of its terminal', async () => {
    terminal.resize(SMALL);
    await terminal.shows(/^ Gatehouse .*\n.*\n─ Resources ─ search: newest ─+ 1 of 1 ──┬─ Details ─/);
    await terminal.shows(/\? help {2}q quit$/);
    expect(terminal.lines).toHaveLength(24);
  });

  it('shows its keys on demand', async () => {
    terminal.press('escape');
    await terminal.hides('Details');
    terminal.press('escape');
    await terminal.shows('1 of 11');
    terminal.type('?');
    await terminal.shows('Steer');
    const screen = timeless(await terminal.steady());
    expect(screen).toBe(documented('help 80x24', screen));
    terminal.press('escape');
    await terminal.hides('Steer');
  });

  it('says that the connection is lost, and is back when the gateway is', async () => {
    const { port } = new URL(gateway.url);
    await gateway.stop('SIGKILL');
    await terminal.shows('Connection lost');
    await terminal.shows('✖ lost');
    gateway = launchGateway(['--config', config], { GATEHOUSE__HTTP__PORT: port });
    await gateway.listening();
    await terminal.shows('● live');
    await terminal.hides('Connection lost');
    expect(terminal.text).toContain('resource://everything');
    terminal.type('q');
    await within('it to end', terminal.exited);
  });
});

describe('the terminal UI', () => {
  it('says what it needs where there is no terminal', async () => {
    const child = launchGateway(['tui', '--url', 'http://127.0.0.1:9'], {
      GATEHOUSE_ADMIN_TOKEN: ADMIN_TOKEN,
    });
    expect(await within('it to end', child.exited)).toMatchObject({ code: 2 });
    expect(child.stderr).toContain('the terminal UI needs a terminal');
  });

  it('does not begin where no gateway is', async () => {
    const terminal = RealTerminal.run(
      [process.execPath, 'dist/main.js', 'tui', '--url', 'http://127.0.0.1:9', '--token', ADMIN_TOKEN],
      SMALL,
    );
    expect(await within('it to end', terminal.exited)).toMatchObject({ code: 3 });
    expect(terminal.raw).toContain('cannot reach the gateway at http://127.0.0.1:9');
    expect(terminal.raw).not.toContain('\x1b[?1049h');
  });
});
