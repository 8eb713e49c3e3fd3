import { describe, expect, it } from '@jest/globals';
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
import { selectedRow, currentList } from './model.js';
import { listsAffectedBy } from './feed-events.js';
import { knownLength, rowsInMemory, totalLength } from './paged-list.js';

const many = (count: number) =>
  Array.from({ length: count }, (_, at) => resource(`${String(at).padStart(6, '0')}.txt`));

const gateway: TuiGatewayContents = {
  servers: [server('files'), server('other')],
  resources: [...many(5), resource('z.log', { server: 'other', uri: 'resource://other/z.log' })],
  templates: [template('file:///{path}', 'any file')],
  tools: [tool('read'), tool('write')],
  subscriptions: [subscription('a'), subscription('b')],
  sessions: [clientSession('0123456789abcdef'), clientSession('s2')],
};

const selected = (harness: TuiModelHarness): string | undefined => selectedRow(harness.model)?.key;

const actions = (harness: TuiModelHarness) =>
  harness.requests.flatMap((request) => (request.kind === 'action' ? [request.action] : []));

describe('navigation', () => {
  it('cycles through the panels', () => {
    const harness = new TuiModelHarness(gateway);
    const seen = ['tab', 'tab', 'tab', 'tab', 'tab', 'tab', 'backtab', '3'].map(
      (key) => harness.press(key).model.panel,
    );
    expect(seen).toEqual([
      'tools',
      'prompts',
      'resources',
      'subscriptions',
      'clients',
      'servers',
      'clients',
      'prompts',
    ]);
  });

  it.each([
    [['j', 'down', 'k'], '000001.txt'],
    [['G'], 'z.log'],
    [['end', 'up'], '000004.txt'],
    [['G', 'g'], '000000.txt'],
    [['k'], '000000.txt'],
    [['pagedown'], 'z.log'],
    [['ctrl-d', 'ctrl-u'], '000000.txt'],
  ])('with %j selects %s', (keys, name) => {
    expect(selected(new TuiModelHarness(gateway).press('4', ...keys))).toContain(name);
  });

  it('keeps the selected row in view when the terminal is resized', () => {
    const harness = new TuiModelHarness({ ...gateway, resources: many(100) }).press(
      '4',
      ...Array<string>(50).fill('j'),
    );
    const inView = () => {
      const { top, selected: at } = harness.model.lists.resources;
      return at >= top && at < top + 30;
    };
    expect(inView()).toBe(true);
    harness.dispatch({ type: 'resized', columns: 60, rows: 16 });
    expect(harness.model.lists.resources.top).toBeGreaterThan(40);
    expect(inView()).toBe(true);
  });
});

describe('list of 100,000 rows', () => {
  const harness = new TuiModelHarness({ ...gateway, resources: many(100_000) });

  it('opens with one page request', () => {
    harness.press('4');
    expect(
      harness.requests.filter(({ kind, key }) => kind === 'page' && key.startsWith('resources ')),
    ).toHaveLength(1);
    expect(totalLength(harness.model.lists.resources.paged)).toEqual({ rows: 100_000, isLowerBound: false });
  });

  it('loads pages ahead of the selection', () => {
    for (let page = 0; page < 30; page++) harness.press('pagedown');
    expect(selected(harness)).toMatch(/0004\d\d\.txt$|0005\d\d\.txt$|0003\d\d\.txt$/);
  });

  it('jumps to its end and holds at most 10,000 rows', () => {
    harness.press('G');
    expect(selected(harness)).toContain('099999.txt');
    const held = harness.model.lists.resources.paged.pages.flatMap(({ rows = [] }) => rows);
    expect(held.length).toBeLessThanOrEqual(10_000);
    harness.press('g');
    expect(selected(harness)).toContain('000000.txt');
  });
});

describe('search', () => {
  it('is applied with every letter and starts at the first row', () => {
    const harness = new TuiModelHarness(gateway).press('4', 'j', '/', 'z', '.');
    expect(harness.model.panels.resources.query).toBe('z.');
    expect(knownLength(harness.model.lists.resources.paged)).toBe(1);
    expect(selected(harness)).toBe('resource://other/z.log');
    expect(harness.press('enter').model.overlay).toBeUndefined();
    expect(harness.press('escape').model.panels.resources.query).toBe('');
    expect(knownLength(harness.model.lists.resources.paged)).toBe(6);
  });

  it('can be edited and cancelled', () => {
    const harness = new TuiModelHarness(gateway).press('4', '/', 'a', 'b', 'backspace');
    expect(harness.model.panels.resources.query).toBe('a');
    expect(harness.press('escape').model.panels.resources.query).toBe('');
    expect(harness.press('/', 'x', ' ', 'y', 'ctrl-w').model.panels.resources.query).toBe('x ');
  });

  it('treats no letter as a command', () => {
    const harness = new TuiModelHarness(gateway).press('4', '/', 'q', '?', '1');
    expect(harness.model).toMatchObject({
      isClosing: false,
      panel: 'resources',
      panels: { resources: { query: 'q?1' } },
    });
  });

  it('can be limited to one server', () => {
    const harness = new TuiModelHarness(gateway).press('4', 'f', 'j', 'j', 'enter');
    expect(harness.model.panels.resources.server).toBe('other');
    expect(knownLength(harness.model.lists.resources.paged)).toBe(1);
    expect(harness.press('escape').model.panels.resources.server).toBeUndefined();
  });

  it('finds servers without a request', () => {
    const harness = new TuiModelHarness(gateway).press('/', 'o', 't', 'h');
    expect(selected(harness)).toBe('other');
    expect(knownLength(harness.model.lists.servers.paged)).toBe(1);
  });

  it('is reset when the resources of a server are shown', () => {
    const harness = new TuiModelHarness(gateway).press('4', '/', 'n', 'o', 'enter', '1', 'j', 's');
    expect(harness.model).toMatchObject({
      panel: 'resources',
      panels: { resources: { server: 'other', query: '' } },
    });
    expect(selected(harness)).toBe('resource://other/z.log');
  });
});

describe('details', () => {
  it('open, get the focus, return it and close', () => {
    const harness = new TuiModelHarness(gateway).press('enter');
    expect(harness.model.details).toMatchObject({ isOpen: true, hasFocus: false });
    expect(harness.model.serverDetail?.detail.stderr).toEqual(['a line on stderr']);
    expect(harness.press('right').model.details.hasFocus).toBe(true);
    expect(harness.press('escape').model.details).toMatchObject({ isOpen: true, hasFocus: false });
    expect(harness.press('escape').model.details.isOpen).toBe(false);
  });

  it('show a preview until another row is selected', () => {
    const harness = new TuiModelHarness(gateway).press('4', 'p');
    expect(harness.model.details.preview).toMatchObject({ lines: ['the contents'] });
    expect(harness.press('j').model.details.preview).toBeUndefined();
  });

  it.each([[['enter']], [['escape', 'escape']]])('show a preview again after %j closed it', (closing) => {
    const harness = new TuiModelHarness(gateway).press('4', 'p', ...closing);
    expect(harness.model.details).toMatchObject({ isOpen: false, preview: undefined });
    expect(harness.press('p').model.details.preview).toMatchObject({ lines: ['the contents'] });
    expect(harness.press('p').model.details).toMatchObject({ isOpen: true, preview: undefined });
  });

  it('are those of a template after t, unless the list of templates is empty', () => {
    const harness = new TuiModelHarness(gateway).press('4', 't');
    expect([currentList(harness.model), selected(harness)]).toEqual([
      'resource-templates',
      'resource://files/file:///{path}',
    ]);
    const empty = new TuiModelHarness({ ...gateway, templates: [] }).press('4', 't');
    expect(currentList(empty.model)).toBe('resources');
  });
});

describe('actions', () => {
  it.each([
    ['disable a server', ['d', 'y'], { kind: 'server', verb: 'disable', server: 'files' }],
    ['reconnect a server', ['j', 'r', 'y'], { kind: 'server', verb: 'reconnect', server: 'other' }],
    ['disable a tool', ['2', 'd', 'y'], { kind: 'tool', verb: 'disable', server: 'files', tool: 'read' }],
    ['end a subscription', ['5', 'x', 'y'], { kind: 'end-subscription', id: 'a' }],
    ['end a session', ['6', 'j', 'x', 'y'], { kind: 'end-session', id: 's2' }],
  ])('%s after confirmation', (_what, keys, action) => {
    const harness = new TuiModelHarness(gateway).press(...keys);
    expect(actions(harness)).toMatchObject([action]);
    expect(harness.model.notice?.text).toBe('done');
  });

  it('only enable a server that is disabled', () => {
    const harness = new TuiModelHarness({
      servers: [server('off', { enabled: false, state: 'disabled' })],
    }).press('d', 'y', 'r', 'y');
    expect(actions(harness)).toEqual([]);
    expect(actions(harness.press('e', 'y'))).toMatchObject([{ verb: 'enable', server: 'off' }]);
  });

  it('enable a disabled tool', () => {
    const counts = { tools: 1, disabledTools: 1, prompts: 0, resources: 0, templates: 0 };
    const harness = new TuiModelHarness({ servers: [server('files', { counts })] }).press('2', 't', 'e', 'y');
    expect(actions(harness)).toMatchObject([{ kind: 'tool', verb: 'enable', server: 'files', tool: 'off' }]);
  });

  it.each([['n'], ['escape'], ['q']])('are cancelled with %s', (key) => {
    const harness = new TuiModelHarness(gateway).press('d', key);
    expect(actions(harness)).toEqual([]);
    expect(harness.model).toMatchObject({ overlay: undefined, isClosing: false });
  });

  it.each([['enter'], ['d'], ['j'], ['x']])('are not confirmed with %s', (key) => {
    expect(new TuiModelHarness(gateway).press('d', key).model.overlay?.kind).toBe('confirm');
  });
});

describe('events of the feed', () => {
  it('update, remove and add a server', () => {
    const harness = new TuiModelHarness(gateway);
    harness.dispatch({
      type: 'feed',
      kind: 'server',
      data: { ...server('files', { state: 'retrying', reason: 'gone' }) },
    });
    expect(harness.model.servers[0]).toMatchObject({ id: 'files', state: 'retrying', reason: 'gone' });
    harness.dispatch({ type: 'feed', kind: 'server', data: { id: 'files', removed: true } });
    expect(selected(harness)).toBe('other');
    harness.dispatch({ type: 'feed', kind: 'server', data: { ...server('new') } });
    expect(harness.model.servers.map(({ id }) => id)).toEqual(['other', 'new']);
  });

  it('reload changed lists and keep the selected row', () => {
    const harness = new TuiModelHarness(gateway).press('4', 'j', 'j');
    expect(selected(harness)).toContain('000002.txt');
    harness.gateway = { ...gateway, resources: gateway.resources!.slice(1) };
    harness.dispatch({ type: 'lists-changed', lists: ['resources'] });
    expect(selected(harness)).toContain('000002.txt');
    expect(harness.model.lists.resources.selected).toBe(1);
    harness.gateway = { ...gateway, resources: gateway.resources!.slice(-1) };
    harness.dispatch({ type: 'lists-changed', lists: ['resources'] });
    expect(selected(harness)).toBe('resource://other/z.log');
  });

  it('replace the row of a session, the state of its stream and the details of its subscription', () => {
    const harness = new TuiModelHarness(gateway).press('6', '5', 'enter');
    const streams = () =>
      rowsInMemory(harness.model.lists.subscriptions.paged).map(
        ({ item }) => 'hasStream' in item && item.hasStream,
      );
    expect(harness.model.subscriberSession).toMatchObject({ id: '0123456789abcdef', item: { calls: 12 } });
    const before = harness.requests.length;
    const data = clientSession('0123456789abcdef', { hasStream: false, calls: 13 });
    harness.dispatch({ type: 'feed', kind: 'session', data: { ...data } });
    expect(rowsInMemory(harness.model.lists.sessions.paged)[0]?.item).toEqual(data);
    expect(streams()).toEqual([false, false]);
    expect(harness.model.subscriberSession?.item).toEqual(data);
    expect(harness.requests).toHaveLength(before);
  });

  it.each([
    ['a session on the screen', { ...clientSession('s2') }, []],
    ['another session', { ...clientSession('s3') }, ['sessions']],
    ['a closed session', { id: 's2', closed: true }, ['sessions', 'subscriptions']],
    ['many sessions', { changed: 51 }, ['sessions']],
  ])('of %s reload only the lists that may contain it', (_what, data, lists) => {
    const { model } = new TuiModelHarness(gateway).press('6');
    expect(listsAffectedBy('session', data, model)).toEqual(lists);
  });

  it('that were missed while disconnected are replaced by reloading all lists', () => {
    const harness = new TuiModelHarness(gateway).press('4');
    harness.dispatch({ type: 'lost', problem: 'gone', retryAt: NOW + 500 });
    harness.gateway = { ...gateway, resources: [] };
    const before = harness.requests.length;
    harness.press('j', 'k');
    expect(harness.requests).toHaveLength(before);
    expect(selected(harness)).toContain('000000.txt');
    harness.dispatch({ type: 'connected' });
    expect(selected(harness)).toBeUndefined();
  });

  it('show a refused configuration for a while', () => {
    const harness = new TuiModelHarness(gateway);
    harness.dispatch({ type: 'feed', kind: 'config', data: { ok: false, problem: 'limits.x: unknown key' } });
    expect(harness.model.notice?.text).toContain('limits.x: unknown key');
    expect(harness.dispatch({ type: 'tick', now: NOW + 60_000 }).model.notice).toBeUndefined();
  });
});
