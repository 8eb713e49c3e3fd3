import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN } from '../kit/admin-client.js';
import { launchGateway, startGateway } from '../kit/gateway.js';
import { descendantsOf } from '../kit/processes.js';
import { MAIN, NODE } from '../kit/program.js';
import { runTuiOn, TuiGateway } from '../kit/tui-on-gateway.js';
import { expectDocumented, LARGE, SMALL } from '../kit/tui-screens.js';
import { PseudoTerminal } from '../kit/pseudo-terminal.js';
import { until, within } from '../kit/until.js';

describe('terminal UI and its terminal', () => {
  let tuiGateway: TuiGateway;
  let terminal: PseudoTerminal;

  beforeAll(async () => {
    tuiGateway = await TuiGateway.open();
    terminal = tuiGateway.tui(LARGE, [], { NO_COLOR: '1' });
    await terminal.shows('▶ everything');
  });

  it('shows list and details side by side', async () => {
    terminal.type('4/newest\r');
    await terminal.shows(/Resources .* 1 of 1 ─/);
    await terminal.shows('no templates match newest');
    terminal.press('enter');
    await terminal.shows('48 kB (48,211 bytes)');
    expect(terminal.underlined).toEqual(['newest']);
    await expectDocumented(terminal, 'newest', LARGE);
  });

  it('uses no colours with NO_COLOR', () => {
    // oxlint-disable-next-line no-control-regex -- the test is about colour codes
    expect(terminal.raw).not.toMatch(/\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;\d+)*m/);
  });

  it('adapts to a new size of the terminal', async () => {
    terminal.resize(SMALL);
    await terminal.shows(/^ Gatehouse .*\n.*\n─ Resources ─ search: newest ─+ 1 of 1 ──┬─ Details ─/);
    await terminal.shows(/\? help {2}q quit$/);
    expect(terminal.lines).toHaveLength(24);
  });

  it('shows the help', async () => {
    terminal.press('enter');
    await terminal.hides('Details');
    terminal.press('escape');
    await terminal.shows('1 of 11');
    terminal.type('?');
    await terminal.shows('Actions');
    await expectDocumented(terminal, 'help', SMALL);
    terminal.press('escape');
    await terminal.hides('Actions');
  });

  it('restores the screen at SIGTERM', async () => {
    const other = tuiGateway.tui(SMALL);
    await other.shows('▶ everything');
    const [pid] = descendantsOf(other.pid).toReversed();
    process.kill(pid!, 'SIGTERM');
    await within('the program to end', other.exited);
    await until('the screen is restored', () => !other.isAlternate);
    expect(other.raw).toContain('\x1b[?25h');
  });

  it('shows only servers and resources of its project', async () => {
    const other = tuiGateway.tui(SMALL, ['--project', 'logs']);
    await other.shows('▶ files');
    await other.shows(/project logs +● live/);
    expect(other.text).toMatch(/Servers 1\].*Tools 2 .*Prompts 0 /);
    other.type('4');
    await other.shows('1 of 3');
    expect(other.text).not.toMatch(/everything|memory/);
    other.type('q');
    expect(await within('the program to end', other.exited)).toMatchObject({ code: 0 });
  });

  it('fails to start with an unknown project', async () => {
    const other = tuiGateway.tui(SMALL, ['--project', 'lgos']);
    expect(await within('the program to end', other.exited)).toMatchObject({ code: 1 });
    expect(other.raw).toContain('there is no project `lgos`');
  });

  // Last, because it replaces the gateway.
  it('reports a lost connection and reconnects to a restarted gateway', async () => {
    const restart = await tuiGateway.crash();
    await terminal.shows('Connection lost');
    await terminal.shows('✖ lost');
    terminal.type('1');
    await expectDocumented(terminal, 'lost', SMALL);
    await restart();
    await terminal.shows('● live');
    await terminal.hides('Connection lost');
    await terminal.shows(/everything +ready/);
    terminal.type('q');
    await within('the program to end', terminal.exited);
  });
});

describe('terminal UI', () => {
  it('shows why a server is down: cause, reason, attempts, since when, and its lines on stderr', async () => {
    const gateway = await startGateway({
      admin: { token: ADMIN_TOKEN },
      mcpServers: { broken: { command: 'sh', args: ['-c', 'echo "no such table: notes" >&2; exit 3'] } },
    });
    const terminal = runTuiOn(gateway, LARGE);
    await terminal.shows('▶ broken');
    terminal.press('enter');
    await terminal.shows(/cause +crashed/);
    await terminal.shows(/reason[^]*(exited with code 3|closed its std)/);
    await terminal.shows(/down for +\d+s/);
    await terminal.shows(/attempts +\d+, next at 20\S+Z/);
    await terminal.shows(/Latest stderr output *│?\n.*no such table: notes/);
    terminal.type('q');
    expect(await within('the program to end', terminal.exited)).toMatchObject({ code: 0 });
  });

  it('counts the seconds for which a server that connects has been waited for', async () => {
    const gateway = await startGateway({
      admin: { token: ADMIN_TOKEN },
      mcpServers: { silent: { command: 'sleep', args: ['600'] } },
    });
    const terminal = runTuiOn(gateway, LARGE);
    const waited = (): number => Number(/waiting (\d+) s for initialize/.exec(terminal.text)?.[1] ?? 0);
    await until('the wait is shown', () => waited() > 0);
    const first = waited();
    await until('the wait goes on', () => waited() > first);
    terminal.type('q');
    expect(await within('the program to end', terminal.exited)).toMatchObject({ code: 0 });
  });

  it('fails to start without a terminal', async () => {
    const child = launchGateway(['tui', '--url', 'http://127.0.0.1:9'], {
      GATEHOUSE_ADMIN_TOKEN: ADMIN_TOKEN,
    });
    expect(await within('the program to end', child.exited)).toMatchObject({ code: 2 });
    expect(child.stderr).toContain('the terminal UI needs a terminal');
  });

  it('fails to start without a gateway', async () => {
    const terminal = PseudoTerminal.run(
      [NODE, MAIN, 'tui', '--url', 'http://127.0.0.1:9', '--token', ADMIN_TOKEN],
      SMALL,
    );
    expect(await within('the program to end', terminal.exited)).toMatchObject({ code: 3 });
    expect(terminal.raw).toContain('cannot reach the gateway at http://127.0.0.1:9');
    expect(terminal.raw).not.toContain('\x1b[?1049h');
  });
});
