import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { render } from 'ink-testing-library';
import { onCleanup } from '../../../test/kit/cleanup.js';
import { FakeAdminApi } from '../../../test/kit/fake-admin-api.js';
import {
  TuiModelHarness,
  NOW,
  resource,
  server,
  clientSession,
  subscription,
  template,
  tool,
  type TuiGatewayContents,
} from '../../../test/kit/tui-model.js';
import { until } from '../../../test/kit/until.js';
import { formatCompact } from '../../client/format.js';
import { textWidth } from '../../client/terminal-text.js';
import { detailLines } from '../model/details.js';
import type { Model } from '../model/model.js';
import { TuiSession } from '../tui-session.js';
import { App, Screen } from './app.js';

const HOSTILE = '\x1b[2J\x1b]0;owned\x07\u202egnp.exe\nsecond line';

const gateway: TuiGatewayContents = {
  servers: [
    server('files'),
    server('broken', { state: 'retrying', reason: 'cannot start "x"', transport: 'http' }),
  ],
  resources: [
    resource('app.log', { subscribers: 3 }),
    resource('notes.txt'),
    resource(HOSTILE, {
      definition: { name: HOSTILE, title: HOSTILE, description: HOSTILE, mimeType: HOSTILE },
    }),
  ],
  templates: [template('file:///{path}', 'any file there is')],
  tools: [tool('read', 'reads'), tool('write', HOSTILE)],
  subscriptions: [subscription('app.log')],
  sessions: [
    clientSession('0123456789abcdef'),
    clientSession('fedcba9876543210', { client: { name: HOSTILE, version: '' } }),
  ],
};

function frameOf(model: Model): string {
  const { lastFrame, unmount } = render(<Screen model={model} />);
  const frame = lastFrame()!;
  unmount();
  return frame;
}

/** The second line of the screen. */
const tabs = (columns: number): string =>
  screenOf(new TuiModelHarness(gateway, { columns, rows: 24 })).split('\n')[1]!;

const screenOf = (harness: TuiModelHarness): string => frameOf(harness.model);

describe('Screen', () => {
  const screens: [string, string[]][] = [
    ['servers', []],
    ['details of a server', ['j', 'enter']],
    ['a confirmation', ['d']],
    ['help', ['?']],
    ['tools', ['2', 'enter']],
    ['prompts', ['3']],
    ['resources', ['4']],
    ['details of a resource', ['4', 'enter']],
    ['details of a hostile resource', ['4', 'g', 'enter', 'right', 'G']],
    ['a preview', ['4', 'p']],
    ['templates', ['4', 't', 'enter']],
    ['a choice of servers', ['4', 'f']],
    ['a search', ['4', '/', 'l', 'o', 'g']],
    ['subscriptions', ['5', 'enter']],
    ['clients', ['6']],
    ['details of a client', ['6', 'enter']],
    ['details of a hostile client', ['6', 'G', 'enter']],
  ];

  it.each(screens)('fits the terminal and contains no control character: %s', (_what, keys) => {
    for (const [columns, rows] of [
      [60, 16],
      [80, 24],
    ] as const) {
      const lines = screenOf(new TuiModelHarness(gateway, { columns, rows }).press(...keys)).split('\n');
      expect(lines).toHaveLength(rows);
      for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(columns);
      // oxlint-disable-next-line no-control-regex -- the test is about control characters
      expect(lines.join('')).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202e]/);
    }
  });

  it('lists resources with URI, name, type and size, and templates below with pattern and description', () => {
    const lines = screenOf(new TuiModelHarness(gateway).press('4')).split('\n');
    expect(lines[2]).toMatch(/^─ Resources ─+ 1 of 3 ─$/);
    expect(lines[3]).toMatch(/^ {2}URI +NAME +TYPE +SIZE$/);
    const line = lines.find((text) => text.includes('app.log'));
    expect(line).toMatch(/resource:\/\/files\/file:\/\/\/app\.log +app\.log +text\/plain +1\.2 kB$/);
    expect(lines.join('\n')).toMatch(
      /─ Templates ─[\s\S]*resource:\/\/files\/file:\/\/\/\{path\} +any file there is/,
    );
  });

  it('shows control characters of a hostile name as escapes', () => {
    expect(screenOf(new TuiModelHarness(gateway).press('4', 'enter'))).toContain('\\x1b[2J\\x1b]0;owned');
  });

  it('shows all fields of a resource in the details pane', () => {
    const frame = screenOf(new TuiModelHarness(gateway, { columns: 99, rows: 40 }).press('4', 'j', 'enter'));
    for (const fact of [
      'file:///app.log',
      'files',
      'text/plain',
      '1.2 kB (1,234 bytes)',
      'subscribers 3',
      'files_file___app.log',
    ])
      expect(frame).toContain(fact);
  });

  it('highlights matches in the details pane, by words without accents', () => {
    const described = resource('a.txt', {
      definition: { name: 'a.txt', description: 'Das Résumé von Anna' },
    });
    const { model } = new TuiModelHarness({ ...gateway, resources: [described] }).press('4', 'enter');
    const searching = {
      ...model,
      panels: { ...model.panels, resources: { ...model.panels.resources, query: 'resu' } },
    };
    const found = detailLines(searching)
      .flat()
      .filter(({ style }) => style === 'match');
    expect(found.map(({ text }) => text)).toEqual(['Résu']);
  });

  it('shows the arguments of a disabled tool', () => {
    const counts = { tools: 1, disabledTools: 1, prompts: 0, resources: 0, templates: 0 };
    const harness = new TuiModelHarness(
      { servers: [server('files', { counts })] },
      { columns: 80, rows: 30 },
    );
    expect(screenOf(harness.press('2', 't', 'enter'))).toMatch(
      /disabled: hidden from all clients[\s\S]*Arguments[\s\S]*path {2}string/,
    );
  });

  it('shows the counts of a server and its latest lines on stderr', () => {
    const harness = new TuiModelHarness(gateway, { columns: 80, rows: 60 }).press('enter');
    const stderr = Array.from({ length: 50 }, (_, at) => `line ${at}`);
    const loaded = harness.model.serverDetail!;
    const frame = frameOf({
      ...harness.model,
      serverDetail: { ...loaded, detail: { ...loaded.detail, stderr } },
    });
    expect(frame).toMatch(/resources +3[\s\S]*templates +1/);
    expect(frame).toMatch(/… 30 earlier lines *\n[^\n]*│ line 30 *\n/);
    expect(frame).toContain('line 49');
  });

  it('shows below stderr which capabilities are not offered on a shared link', () => {
    const harness = new TuiModelHarness(gateway, { columns: 120, rows: 60 }).press('enter');
    const loaded = harness.model.serverDetail!;
    const detail = { ...loaded.detail, missingCapabilities: ['roots', 'sampling.tools'] };
    expect(frameOf({ ...harness.model, serverDetail: { ...loaded, detail } })).toMatch(
      /Latest stderr output[\s\S]*Not offered to the server *\n[^\n]*│ roots, sampling\.tools: clients share its link[\s\S]*Definition/,
    );
  });

  it('lists clients with version, era, principal, project, scope, streams, subscriptions, calls and last seen', () => {
    const sessions = [
      clientSession('a', { project: 'logs', calls: 12_345 }),
      clientSession('b', { client: { name: 'claude', version: '1.0' }, hasStream: false, streams: 0 }),
    ];
    const harness = new TuiModelHarness({ ...gateway, sessions }, { columns: 120, rows: 24 }).press('6');
    const lines = screenOf(harness).split('\n');
    expect(lines[1]).toContain('6 Clients 2');
    expect(lines[3]).toMatch(/CLIENT +ERA +PRINCIPAL +PROJECT +SCOPE +STREAMS SUBS CALLS +SEEN$/);
    expect(lines[4]).toMatch(/cursor 2\.1 +2025 ci +logs +logs → files, other +1 +2 +12k +now$/);
    expect(lines[5]).toMatch(/claude 1\.0 +2025 ci +- +logs → files, other +0 +2 +12 +2m$/);
  });

  it('shows all fields of a client in the details pane', () => {
    const scope = [
      { project: 'logs', servers: ['files'] },
      { project: 'empty', servers: [] },
    ];
    const sessions = [clientSession('0123456789abcdef', { scope, hasStream: false, streams: 0 })];
    const harness = new TuiModelHarness({ ...gateway, sessions }, { columns: 120, rows: 40 });
    const frame = screenOf(harness.press('6', 'enter'));
    for (const fact of [
      /client +cursor 2\.1/,
      /session +0123456789abcdef/,
      /streams +0, none for notifications/,
      /subscribed +2/,
      /calls +12 \(0 running\)/,
      /last seen +2m/,
      /principal +ci/,
      /scope +logs → files/,
      /scope +empty → no servers/,
      /protocol +2025-11-25 \(era 2025\)/,
    ])
      expect(frame).toMatch(fact);
  });

  it('shows the name of the client of a subscription, with a part of its session id if two have that name', () => {
    const subscriptions = [
      subscription('a'),
      subscription('b', { client: 'fedcba9876543210' }),
      subscription('c', { client: '1111111111111111', clientName: 'claude' }),
    ];
    const lines = screenOf(new TuiModelHarness({ ...gateway, subscriptions }).press('5')).split('\n');
    const names = lines.slice(4, 7).map((line) => /^. (\S+(?: \S+)?) +files /.exec(line)?.[1]);
    expect(names).toEqual(['cursor 012345', 'cursor fedcba', 'claude']);
  });

  it('shortens the tabs until they fit', () => {
    expect(tabs(100)).toContain('   5 Subscriptions 1    6 Clients 2');
    expect(tabs(86)).toContain(' 5 Subscriptions 1  6 Clients 2');
    expect(tabs(80)).toMatch(/ 5 Subs 1 +6 Clients 2/);
    expect(tabs(60)).toMatch(/ 5 Subs +6 Clients$/);
  });

  it('shows a text for an empty list', () => {
    const empty = new TuiModelHarness({ servers: [server('files')] });
    expect(screenOf(empty.press('4'))).toContain('no resources');
    expect(screenOf(empty.press('/', 'x', 'y'))).toContain('no resources match xy');
    expect(screenOf(empty.press('escape', 'f', 'j', 'enter'))).toContain('no resources of files');
    expect(screenOf(empty.press('5'))).toContain('no subscriptions');
    expect(screenOf(empty.press('6'))).toContain('no clients');
  });

  it('shows a lost connection and the time of the next attempt', () => {
    const harness = new TuiModelHarness(gateway, { columns: 100, rows: 24 }).dispatch({
      type: 'lost',
      problem: 'connection refused',
      retryAt: NOW + 3000,
    });
    const frame = screenOf(harness);
    expect(frame).toContain('✖ lost');
    expect(frame).toContain(
      'Connection lost, reconnecting in 3s; data may be out of date: connection refused',
    );
  });

  it('shows the reason why a server is not ready', () => {
    expect(screenOf(new TuiModelHarness(gateway).press('j'))).toContain('broken: cannot start "x"');
  });

  it('shows the effect of an action before its confirmation', () => {
    const frame = screenOf(new TuiModelHarness(gateway).press('d'));
    expect(frame).toContain('Disable files?');
    expect(frame).toContain('2 tools, 1 prompt, 3 resources, 1 template');
  });

  it('shows a message if the terminal is too small', () => {
    expect(screenOf(new TuiModelHarness(gateway, { columns: 40, rows: 10 }))).toContain('40x10 is too small');
  });

  it('always shows the keys for help and quit', () => {
    for (const columns of [60, 70, 80, 99])
      expect(screenOf(new TuiModelHarness(gateway, { columns, rows: 24 }).press('4'))).toMatch(
        /\? help +q quit$/,
      );
  });

  it.each([
    [7, '7'],
    [1000, '1k'],
    [1234, '1.2k'],
    [99_999, '100k'],
    [999_999, '1M'],
    [1_540_000, '1.5M'],
  ])('formats %i as %s', (number, formatted) => {
    expect(formatCompact(number)).toBe(formatted);
  });
});

async function startApp() {
  const api = new FakeAdminApi(gateway);
  const session = new TuiSession({
    api: api.api,
    preview: () => Promise.resolve(['x']),
    size: { columns: 80, rows: 24 },
  });
  session.start();
  onCleanup(() => session.stop());
  const app = render(<App session={session} />);
  onCleanup(() => app.unmount());
  const shows = (text: string) => until(`the screen shows ${text}`, () => app.lastFrame()?.includes(text));
  await shows('● live');
  await shows('▶ files');
  return { api, session, app, shows };
}

describe('App', () => {
  it('accepts keys as terminals send them, also several in one chunk', async () => {
    const { session, app, shows } = await startApp();
    app.stdin.write('\x1b[B');
    await shows('▶ broken');
    app.stdin.write('\x1b[A');
    await shows('▶ files');
    app.stdin.write('\t');
    await shows('[2 Tools');
    app.stdin.write('\x1b[Z');
    await shows('[1 Servers');
    app.stdin.write('4/log');
    await shows('search: log');
    expect(session.model.panels.resources.query).toBe('log');
    app.stdin.write('\x7f\r');
    await until('the search is kept', () => session.model.overlay === undefined);
    expect(session.model.panels.resources.query).toBe('lo');
    app.stdin.write('/x\x15y');
    await shows('search: y');
  });

  it.each([
    ['one', '\x1b', { isOpen: false, query: 'log', server: 'files' }],
    ['two', '\x1b\x1b', { isOpen: false, query: '', server: 'files' }],
    ['three', '\x1b\x1b\x1b', { isOpen: false, query: '', server: undefined }],
  ])('counts every Esc in one chunk: %s', async (_times, typed, expected) => {
    const { session, app } = await startApp();
    app.stdin.write('s/log\r\r');
    await until('the details are open', () => session.model.details.isOpen);
    expect(session.model.panels.resources).toMatchObject({ query: 'log', server: 'files' });
    app.stdin.write(typed);
    await until('all keys are applied', () => {
      const { details, panels } = session.model;
      const { query, server: only } = panels.resources;
      return isDeepStrictEqual({ isOpen: details.isOpen, query, server: only }, expected);
    });
  });

  it('shows changes of the gateway without a key press', async () => {
    const { api, app, shows } = await startApp();
    api.emit('server', server('files', { state: 'crash-loop' }));
    await shows('crash-loop');
    expect(app.lastFrame()).toMatch(/▶ files +crash-loop/);
  });

  it('quits with q', async () => {
    const { session, app } = await startApp();
    expect(session.model.isClosing).toBe(false);
    app.stdin.write('q');
    await until('the session is closing', () => session.model.isClosing);
  });
});
