import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { startGateway } from '../kit/gateway.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { StdioLink } from '../kit/scripted-server/stdio-link.js';
import { runTuiOn } from '../kit/tui-on-gateway.js';
import { SMALL } from '../kit/tui-screens.js';
import type { PseudoTerminal } from '../kit/pseudo-terminal.js';
import { until, within } from '../kit/until.js';

const RESOURCES = 100_000;
const PAGE = 10_000;

const resourceAt = (at: number): object => {
  const name = `${String(at).padStart(6, '0')}.txt`;
  return {
    uri: `file:///${name}`,
    name,
    ...(at === 77_777 && { description: 'The needle in the haystack.' }),
  };
};

describe('terminal UI with 100,000 resources', () => {
  let archive: ScriptedServer;
  let terminal: PseudoTerminal;

  beforeAll(async () => {
    archive = (await ScriptedServer.start())
      .tool('count', () => text('100000'))
      .template('file:///{name}.txt')
      .on('resources/list', ({ params }) => {
        const from = Number(params['cursor'] ?? 0);
        const resources = Array.from({ length: PAGE }, (_, at) => resourceAt(from + at));
        return { resources, ...(from + PAGE < RESOURCES && { nextCursor: String(from + PAGE) }) };
      });
    const gateway = await startGateway({
      admin: { token: ADMIN_TOKEN },
      mcpServers: { archive: { ...archive.stdio(), subscribe: 'try' } },
    });
    const admin = new AdminClient(gateway);
    await until(
      'every resource is listed',
      async () => (await admin.get('resources?limit=1')).json['total'] === RESOURCES,
      30_000,
    );
    terminal = runTuiOn(gateway, SMALL);
    await terminal.shows('▶ archive');
  });

  it('shows the first rows and the total', async () => {
    terminal.type('4');
    await terminal.shows('1 of 100,000');
    await terminal.shows(/▶ resource:\/\/archi.*000000\.txt/);
    expect(terminal.text).toContain('4 Resources 100k');
  });

  it('moves page by page', async () => {
    terminal.press('pagedown', 'pagedown', 'pagedown');
    await terminal.shows(/▶ resource:\/\/archi.*0000(4|5)\d\.txt/);
  });

  it('moves to the last row and back to the first', async () => {
    terminal.type('G');
    await terminal.shows('100,000 of 100,000');
    await terminal.shows(/▶ resource:\/\/archi.*099999\.txt/);
    terminal.type('g');
    await terminal.shows(/▶ resource:\/\/archi.*000000\.txt/);
  });

  it('searches while the user types', async () => {
    terminal.type('/needle');
    await terminal.shows(/1 of 1 ─/);
    await terminal.shows(/▶ resource:\/\/archi.*077777\.txt/);
    terminal.press('enter');
    terminal.press('escape');
    await terminal.shows('1 of 100,000');
  });

  it('shows new stderr output of a server', async () => {
    terminal.type('1');
    await terminal.shows('▶ archive');
    terminal.press('enter');
    await terminal.shows(/Latest stderr output[^\n]*\n.*none/);
    const relay = archive.links.find((link) => link instanceof StdioLink && link.isOpen) as StdioLink;
    for (const words of ['SIGUSR2 number 1', 'SIGUSR2 number 2']) {
      process.kill(relay.pid!, 'SIGUSR2');
      await terminal.shows(words);
    }
    terminal.type('q');
    await within('the program to end', terminal.exited);
  });
});
