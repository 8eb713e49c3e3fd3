import { describe, expect, it } from '@jest/globals';
import {
  ModelStage,
  NOW,
  resource,
  server,
  subscription,
  template,
  tool,
  type Gateway,
} from '../../../test/kit/tui-model.js';
import { currentEntry, currentList } from './model.js';
import { knownLength, lengthOf } from './paged-list.js';

const many = (count: number) =>
  Array.from({ length: count }, (_, at) => resource(`${String(at).padStart(6, '0')}.txt`));

const house: Gateway = {
  servers: [server('files'), server('other')],
  resources: [...many(5), resource('z.log', { server: 'other', uri: 'resource://other/z.log' })],
  templates: [template('file:///{path}', 'any file')],
  tools: [tool('read'), tool('write')],
  subscriptions: [subscription('a'), subscription('b')],
};

const selected = (stage: ModelStage): string | undefined => currentEntry(stage.model)?.key;

const deeds = (stage: ModelStage) =>
  stage.asked.flatMap((request) => (request.kind === 'deed' ? [request.deed] : []));

describe('moving', () => {
  it('goes from panel to panel and around', () => {
    const stage = new ModelStage(house);
    const seen = ['tab', 'tab', 'tab', 'tab', 'tab', 'backtab', '3'].map(
      (key) => stage.press(key).model.panel,
    );
    expect(seen).toEqual([
      'tools',
      'prompts',
      'resources',
      'subscriptions',
      'servers',
      'subscriptions',
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
  ])('with %j ends at %s', (keys, name) => {
    expect(selected(new ModelStage(house).press('4', ...keys))).toContain(name);
  });

  it('keeps what is selected in view, on a screen of any size', () => {
    const stage = new ModelStage({ ...house, resources: many(100) }).press(
      '4',
      ...Array<string>(50).fill('j'),
    );
    const inView = () => {
      const { top, selected: at } = stage.model.lists.resources;
      return at >= top && at < top + 30;
    };
    expect(inView()).toBe(true);
    stage.happen({ type: 'resized', columns: 60, rows: 16 });
    expect(stage.model.lists.resources.top).toBeGreaterThan(40);
    expect(inView()).toBe(true);
  });
});

describe('a list of 100,000 rows', () => {
  const stage = new ModelStage({ ...house, resources: many(100_000) });

  it('costs one page to open', () => {
    stage.press('4');
    expect(
      stage.asked.filter(({ kind, key }) => kind === 'page' && key.startsWith('resources ')),
    ).toHaveLength(1);
    expect(lengthOf(stage.model.lists.resources.paged)).toEqual({ rows: 100_000, isLeast: false });
  });

  it('asks ahead of whoever walks', () => {
    for (let page = 0; page < 30; page++) stage.press('pagedown');
    expect(selected(stage)).toMatch(/0004\d\d\.txt$|0005\d\d\.txt$|0003\d\d\.txt$/);
  });

  it('has an end that can be gone to, without holding all that lies before it', () => {
    stage.press('G');
    expect(selected(stage)).toContain('099999.txt');
    const held = stage.model.lists.resources.paged.pages.flatMap(({ rows = [] }) => rows);
    expect(held.length).toBeLessThanOrEqual(10_000);
    stage.press('g');
    expect(selected(stage)).toContain('000000.txt');
  });
});

describe('looking for something', () => {
  it('filters with every letter and starts anew', () => {
    const stage = new ModelStage(house).press('4', 'j', '/', 'z', '.');
    expect(stage.model.panels.resources.query).toBe('z.');
    expect(knownLength(stage.model.lists.resources.paged)).toBe(1);
    expect(selected(stage)).toBe('resource://other/z.log');
    expect(stage.press('enter').model.overlay).toBeUndefined();
    expect(stage.press('escape').model.panels.resources.query).toBe('');
    expect(knownLength(stage.model.lists.resources.paged)).toBe(6);
  });

  it('can be taken back letter by letter, or dropped', () => {
    const stage = new ModelStage(house).press('4', '/', 'a', 'b', 'backspace');
    expect(stage.model.panels.resources.query).toBe('a');
    expect(stage.press('escape').model.panels.resources.query).toBe('');
    expect(stage.press('/', 'x', ' ', 'y', 'ctrl-w').model.panels.resources.query).toBe('x ');
  });

  it('in the search no letter is a command', () => {
    const stage = new ModelStage(house).press('4', '/', 'q', '?', '1');
    expect(stage.model).toMatchObject({
      isOver: false,
      panel: 'resources',
      panels: { resources: { query: 'q?1' } },
    });
  });

  it('narrows down to one server', () => {
    const stage = new ModelStage(house).press('4', 'f', 'j', 'j', 'enter');
    expect(stage.model.panels.resources.server).toBe('other');
    expect(knownLength(stage.model.lists.resources.paged)).toBe(1);
    expect(stage.press('escape').model.panels.resources.server).toBeUndefined();
  });

  it('finds servers without asking the gateway', () => {
    const stage = new ModelStage(house).press('/', 'o', 't', 'h');
    expect(selected(stage)).toBe('other');
    expect(knownLength(stage.model.lists.servers.paged)).toBe(1);
  });

  it('goes from a server to all its resources, whatever was looked for there before', () => {
    const stage = new ModelStage(house).press('4', '/', 'n', 'o', 'enter', '1', 'j', 's');
    expect(stage.model).toMatchObject({
      panel: 'resources',
      panels: { resources: { server: 'other', query: '' } },
    });
    expect(selected(stage)).toBe('resource://other/z.log');
  });
});

describe('details', () => {
  it('open, take the keys, give them back and close', () => {
    const stage = new ModelStage(house).press('enter');
    expect(stage.model.details).toMatchObject({ isOpen: true, hasFocus: false });
    expect(stage.model.serverDetail?.detail.stderr).toEqual(['it said this']);
    expect(stage.press('right').model.details.hasFocus).toBe(true);
    expect(stage.press('escape').model.details).toMatchObject({ isOpen: true, hasFocus: false });
    expect(stage.press('escape').model.details.isOpen).toBe(false);
  });

  it('show the contents of a resource until another is selected', () => {
    const stage = new ModelStage(house).press('4', 'p');
    expect(stage.model.details.preview).toMatchObject({ lines: ['the contents'] });
    expect(stage.press('j').model.details.preview).toBeUndefined();
  });

  it.each([[['enter']], [['escape', 'escape']]])(
    'show the contents again after %j closed them',
    (closing) => {
      const stage = new ModelStage(house).press('4', 'p', ...closing);
      expect(stage.model.details).toMatchObject({ isOpen: false, preview: undefined });
      expect(stage.press('p').model.details.preview).toMatchObject({ lines: ['the contents'] });
      expect(stage.press('p').model.details).toMatchObject({ isOpen: true, preview: undefined });
    },
  );

  it('of templates are reached in their own section, unless it is empty', () => {
    const stage = new ModelStage(house).press('4', 't');
    expect([currentList(stage.model), selected(stage)]).toEqual([
      'resource-templates',
      'resource://files/file:///{path}',
    ]);
    const empty = new ModelStage({ ...house, templates: [] }).press('4', 't');
    expect(currentList(empty.model)).toBe('resources');
  });
});

describe('steering', () => {
  it.each([
    ['disable a server', ['d', 'y'], { kind: 'server', action: 'disable', server: 'files' }],
    ['reconnect a server', ['j', 'r', 'y'], { kind: 'server', action: 'reconnect', server: 'other' }],
    [
      'switch a tool off',
      ['2', 'd', 'y'],
      { kind: 'tool', action: 'disable', server: 'files', tool: 'read' },
    ],
    ['end a subscription', ['5', 'x', 'y'], { kind: 'end-subscription', id: 'a' }],
  ])('can %s', (_what, keys, deed) => {
    const stage = new ModelStage(house).press(...keys);
    expect(deeds(stage)).toMatchObject([deed]);
    expect(stage.model.notice?.text).toBe('it is done');
  });

  it('can enable what is disabled, and nothing else', () => {
    const stage = new ModelStage({ servers: [server('off', { enabled: false, state: 'disabled' })] }).press(
      'd',
      'y',
      'r',
      'y',
    );
    expect(deeds(stage)).toEqual([]);
    expect(deeds(stage.press('e', 'y'))).toMatchObject([{ action: 'enable', server: 'off' }]);
  });

  it('can switch on a tool that is off', () => {
    const counts = { tools: 1, disabledTools: 1, prompts: 0, resources: 0, templates: 0 };
    const stage = new ModelStage({ servers: [server('files', { counts })] }).press('2', 't', 'e', 'y');
    expect(deeds(stage)).toMatchObject([{ kind: 'tool', action: 'enable', server: 'files', tool: 'off' }]);
  });

  it.each([['n'], ['escape'], ['q']])('does nothing after %s', (key) => {
    const stage = new ModelStage(house).press('d', key);
    expect(deeds(stage)).toEqual([]);
    expect(stage.model).toMatchObject({ overlay: undefined, isOver: false });
  });

  it.each([['enter'], ['d'], ['j'], ['x']])('takes %s for no answer', (key) => {
    expect(new ModelStage(house).press('d', key).model.overlay?.kind).toBe('confirm');
  });
});

describe('what the gateway tells', () => {
  it('of a server is on the screen at once', () => {
    const stage = new ModelStage(house);
    stage.happen({
      type: 'feed',
      kind: 'server',
      data: { ...server('files', { state: 'retrying', reason: 'gone' }) },
    });
    expect(stage.model.servers[0]).toMatchObject({ id: 'files', state: 'retrying', reason: 'gone' });
    stage.happen({ type: 'feed', kind: 'server', data: { id: 'files', removed: true } });
    expect(selected(stage)).toBe('other');
    stage.happen({ type: 'feed', kind: 'server', data: { ...server('new') } });
    expect(stage.model.servers.map(({ id }) => id)).toEqual(['other', 'new']);
  });

  it('of lists has them asked again, and the selected row stays selected', () => {
    const stage = new ModelStage(house).press('4', 'j', 'j');
    expect(selected(stage)).toContain('000002.txt');
    stage.gateway = { ...house, resources: house.resources!.slice(1) };
    stage.happen({ type: 'lists-changed', lists: ['resources'] });
    expect(selected(stage)).toContain('000002.txt');
    expect(stage.model.lists.resources.selected).toBe(1);
    stage.gateway = { ...house, resources: house.resources!.slice(-1) };
    stage.happen({ type: 'lists-changed', lists: ['resources'] });
    expect(selected(stage)).toBe('resource://other/z.log');
  });

  it('is asked for anew after the connection was lost', () => {
    const stage = new ModelStage(house).press('4');
    stage.happen({ type: 'lost', problem: 'gone', retryAt: NOW + 500 });
    stage.gateway = { ...house, resources: [] };
    const before = stage.asked.length;
    stage.press('j', 'k');
    expect(stage.asked).toHaveLength(before);
    expect(selected(stage)).toContain('000000.txt');
    stage.happen({ type: 'connected' });
    expect(selected(stage)).toBeUndefined();
  });

  it('of a refused configuration is said', () => {
    const stage = new ModelStage(house);
    stage.happen({ type: 'feed', kind: 'config', data: { ok: false, problem: 'limits.x: unknown key' } });
    expect(stage.model.notice?.text).toContain('limits.x: unknown key');
    expect(stage.happen({ type: 'tick', now: NOW + 60_000 }).model.notice).toBeUndefined();
  });
});
