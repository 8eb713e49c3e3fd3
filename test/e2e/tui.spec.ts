import { beforeAll, describe, expect, it } from '@jest/globals';
import { ListenClient } from '../kit/listen-client.js';
import { RawSession } from '../kit/raw-session.js';
import { HOSTILE_NAME } from '../kit/tui-files-server.js';
import { RESOURCES, TuiGateway } from '../kit/tui-on-gateway.js';
import { expectDocumented, LARGE, SMALL } from '../kit/tui-screens.js';
import type { PseudoTerminal } from '../kit/pseudo-terminal.js';
import { until, within } from '../kit/until.js';

const GRAPH = 'resource://memory/memory://knowledge-graph';

let tuiGateway: TuiGateway;

beforeAll(async () => {
  tuiGateway = await TuiGateway.open();
});

const since = async (): Promise<unknown> => (await tuiGateway.admin.get('servers/memory')).json['since'];

describe.each([SMALL, LARGE])('terminal UI at $columns columns and $rows rows', (size) => {
  let terminal: PseudoTerminal;
  const expectScreen = (what: string): Promise<void> => expectDocumented(terminal, what, size);

  beforeAll(async () => {
    terminal = tuiGateway.tui(size);
    await terminal.shows('▶ everything');
  });

  it('starts with the servers on the alternate screen', async () => {
    await terminal.shows(/5 Sub(script)?s?(ions)? 0 +6 Clients 0/);
    await expectScreen('servers');
    expect(terminal.isAlternate).toBe(true);
  });

  it('shows uptime, counts and stderr output of a server', async () => {
    terminal.press('enter');
    await terminal.shows(/uptime +\d+[sm]/);
    await terminal.shows(/Latest stderr output[^\n]*\n.*Starting default \(STDIO\) server/);
    expect(terminal.text).toMatch(/resources +7[\s\S]*templates +2/);
    await expectScreen('server details');
    terminal.press('enter');
    await terminal.hides('Details');
  });

  it('shows all resources of all servers with URI, name, type and size, and templates in a second list', async () => {
    terminal.type('4');
    await terminal.shows('1 of 11');
    await terminal.shows('The log of one service');
    expect(terminal.text).toMatch(/URI +NAME +TYPE +SIZE/);
    expect(terminal.text).toMatch(/app\.log +Application log +text\/plain +48 kB/);
    await expectScreen('resources');
  });

  it('shows only the resources of the chosen server', async () => {
    terminal.type('f');
    await terminal.shows('all servers');
    terminal.press('down', 'down', 'enter');
    await terminal.shows('1 of 3');
    await terminal.hides('resource://everything');
    await expectScreen('filter');
    terminal.press('escape');
    await terminal.shows('1 of 11');
  });

  it('searches while the user types, highlights matches and hides other rows', async () => {
    terminal.type('/log');
    await terminal.shows(/1 of 2 ─/);
    await terminal.hides('Q1 report');
    expect(new Set(terminal.underlined)).toEqual(new Set(['log']));
    await expectScreen('search');
    terminal.press('enter');
    await terminal.shows('search: log');
  });

  it('shows all fields of the selected resource, and a preview of its contents', async () => {
    terminal.press('enter');
    await terminal.shows('What the application did');
    await expectScreen('details');
    terminal.type('p');
    await terminal.shows('12:00 started');
    expect(terminal.text).toContain('\\x1b[31mready\\x1b[0m');
    await expectScreen('preview');
    terminal.press('escape');
    await terminal.shows('Details');
    terminal.press('escape');
    await terminal.hides('Details');
    terminal.press('escape');
    await terminal.shows('1 of 11');
  });

  it('shows URI template and description of a resource template', async () => {
    terminal.type('t');
    await terminal.shows(/▶ resource:\/\/everything/);
    terminal.press('down', 'down', 'enter');
    await terminal.shows(/own URI +file:\/\/\/logs\/\{name\}\.log/);
    await terminal.shows('│ The log of one service');
    await expectScreen('templates');
    terminal.press('enter');
    terminal.type('t');
    await terminal.shows(/▶ resource:.*architecture/);
  });

  it('disables and enables a server after confirmation, with its resources', async () => {
    terminal.type('1G');
    await terminal.shows('▶ memory');
    terminal.type('d');
    await terminal.shows('Disable memory?');
    await expectScreen('confirmation');
    terminal.type('y');
    await terminal.shows(/memory +disabled/);
    terminal.type('4G');
    await terminal.shows('10 of 10');
    expect(terminal.text).not.toContain('knowledge-graph');
    terminal.type('1e');
    await terminal.shows('Enable memory?');
    terminal.type('y');
    await terminal.shows('memory is ready');
    terminal.type('4');
    await terminal.shows('of 11');
  });

  it('reconnects a server after confirmation', async () => {
    terminal.type('1r');
    await terminal.shows('Reconnect memory?');
    const before = await since();
    terminal.type('y');
    await until('the server is reconnected', async () => (await since()) !== before);
    await terminal.shows(/▶ memory +ready/);
  });

  it('shows changes of other administrators', async () => {
    terminal.type('4g');
    await terminal.shows('1 of 11');
    await tuiGateway.admin.post('servers/memory/disable');
    await terminal.shows('1 of 10');
    expect(terminal.text).not.toContain('knowledge-graph');
    await tuiGateway.admin.post('servers/memory/enable');
    await terminal.shows('1 of 11');
    expect(terminal.text).toMatch(/resource:\/\/memor.*knowledge-graph/);
  });

  it('shows control characters of a hostile name as escapes', async () => {
    tuiGateway.files.files.push({ uri: `file:///${HOSTILE_NAME}`, name: HOSTILE_NAME });
    tuiGateway.files.broadcast('notifications/resources/list_changed');
    await terminal.shows('1 of 12');
    terminal.type('/owned\r');
    await terminal.shows(/Resources .* 1 of 1 ─/);
    terminal.press('enter');
    await terminal.shows('\\x1b[2J\\x1b]0;owned\\x07\\u202egol.ppa');
    expect(terminal.lines[0]).toContain('Gatehouse');
    expect(terminal.raw).not.toContain('\x1b]0;');
    terminal.press('enter');
    await terminal.hides('Details');
    terminal.press('escape');
    await terminal.shows('of 12');
    tuiGateway.files.files.pop();
    tuiGateway.files.broadcast('notifications/resources/list_changed');
    await tuiGateway.untilResources(RESOURCES);
  });

  it('shows new subscriptions, searches them and ends one', async () => {
    terminal.type('5');
    await terminal.shows('no subscriptions');
    const session = await RawSession.open(tuiGateway.gateway.url);
    for (const uri of [GRAPH, 'resource://files/file:///logs/app.log'])
      expect(await session.request('resources/subscribe', { uri })).toMatchObject({ result: {} });
    await terminal.shows(/▶ raw +memory +resource:\/\/memory[\s\S]* {2}raw +files +resource:\/\/files/);
    terminal.type('/raw graph\r');
    await terminal.shows('1 of 1');
    terminal.press('enter');
    await terminal.shows(/program +raw 1/);
    await expectScreen('subscriptions');
    terminal.press('enter');
    await terminal.hides('Details');
    terminal.type('x');
    await terminal.shows('End the subscription to');
    terminal.type('y');
    await terminal.shows('no subscriptions match raw graph');
    terminal.press('escape');
    await terminal.shows(/▶ raw +files/);
    expect((await tuiGateway.admin.get('subscriptions')).json).toMatchObject({ total: 1 });
    await session.end();
    await terminal.shows('no subscriptions');
  });

  it('shows clients as they open, use and close streams and sessions, and ends one', async () => {
    terminal.type('6');
    await terminal.shows('no clients');
    const session = await RawSession.open(tuiGateway.gateway.urlOf('/projects/logs/mcp'));
    await terminal.shows('▶ raw 1');
    const other = await RawSession.open(tuiGateway.gateway.url);
    await terminal.shows(/▶ raw 1 +2025 +anonymous +logs .*\n {2}raw 1 +2025 +anonymous +- /);
    const stream = await session.listen();
    await terminal.shows(/▶ raw 1 .* 1 +0 +0 +now/);
    await session.request('resources/subscribe', { uri: 'resource://files/file:///logs/app.log' });
    await terminal.shows(/▶ raw 1 .* 1 +1 +1 +now/);
    await expectScreen('clients');
    terminal.press('enter');
    await terminal.shows(/scope +logs → files/);
    await expectScreen('client details');
    stream.disconnect();
    await terminal.shows(/streams +0, none for notifications/);
    terminal.press('enter');
    await terminal.hides('Details');
    await other.end();
    await terminal.shows('1 of 1');
    terminal.type('x');
    await terminal.shows('End the session of raw 1?');
    terminal.type('y');
    await terminal.shows('no clients');
    expect((await session.post({ jsonrpc: '2.0', id: 9, method: 'ping' })).status).toBe(404);
  });

  it('shows a listen stream and its subscriptions, and ends it', async () => {
    terminal.type('6');
    await terminal.shows('no clients');
    const uri = 'resource://files/file:///logs/app.log';
    const listen = await ListenClient.open(tuiGateway.gateway.url, {
      toolsListChanged: true,
      resourceSubscriptions: [uri],
    });
    await terminal.shows(/▶ raw 2 +2026 +anonymous .* 1 +1 +/);
    terminal.press('enter');
    await terminal.shows(/listens to +changes of tools/);
    terminal.press('enter');
    await terminal.hides('Details');
    terminal.type('x');
    await terminal.shows('raw 2?');
    terminal.type('y');
    await terminal.shows('no clients');
    await listen.events.untilEnded();
    expect(listen.events.messages.at(-1)).toMatchObject({ result: { resultType: 'complete' } });
  });

  it('shows the arguments of a tool', async () => {
    terminal.type('2');
    await terminal.shows('▶ everything__echo');
    await terminal.shows('1 of 26');
    await expectScreen('tools');
    terminal.press('enter');
    await terminal.shows(/Arguments[^\n]*\n.*message {2}string {2}required/);
    await expectScreen('tool details');
    terminal.press('enter');
    await terminal.hides('Details');
  });

  it('disables and enables a tool, and shows the arguments of a disabled tool', async () => {
    terminal.type('/create_rel\r');
    await terminal.shows('▶ memory__create_relations');
    terminal.type('dy');
    await terminal.shows(/no tools match create_rel[\s\S]*Disabled[\s\S]* {2}create_relations/);
    terminal.type('t');
    terminal.press('enter');
    await terminal.shows('disabled: hidden from all clients');
    await terminal.shows(/Arguments[^\n]*\n.*relations {2}object\[\] {2}required/);
    terminal.press('enter');
    terminal.type('ey');
    await terminal.shows('▶ memory__create_relations');
    expect((await tuiGateway.admin.get('servers/memory')).json).toMatchObject({
      counts: { disabledTools: 0 },
    });
  });

  it('shows prompts and their arguments', async () => {
    terminal.type('3');
    await terminal.shows('▶ everything__args-prompt');
    terminal.press('enter');
    await terminal.shows('city  required');
    await expectScreen('prompts');
  });

  it('quits with q and restores the screen', async () => {
    terminal.type('q');
    expect(await within('the program to end', terminal.exited)).toEqual({ code: 0, signal: null });
    expect(terminal.isAlternate).toBe(false);
  });
});
