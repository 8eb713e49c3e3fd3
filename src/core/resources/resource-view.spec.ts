import { describe, expect, it } from '@jest/globals';
import { only, pageOf } from '../../../test/kit/offers.js';
import {
  addressOf,
  buildDirectory,
  offersOf,
  resource,
  STYLES,
  template,
  neverYield,
} from '../../../test/kit/resource-offers.js';
import { ResourceDirectory } from './resource-directory.js';
import { ResourceList } from './resource-list.js';
import { patternOf } from './resource-pattern.js';
import { parseTemplates } from './resource-template.js';
import type { ResourceStyle } from './resource-uri.js';
import type { ResourceView } from './resource-view.js';
import { EVERYTHING, type Scope } from '../scope.js';

type Given = readonly [server: string, uris: readonly string[], templates?: readonly string[]];

async function viewOf(
  given: readonly Given[],
  style: ResourceStyle = 'resource',
  scope: Scope = EVERYTHING,
): Promise<ResourceView> {
  const offers = await offersOf(given.map(([server, uris, templates = []]) => ({ server, uris, templates })));
  return buildDirectory(offers, style).view(scope);
}

const resolveInEveryStyle = async (given: readonly Given[], text: string): Promise<(string | undefined)[]> =>
  Promise.all(STYLES.map(async (style) => addressOf((await viewOf(given, style)).find(text))));

describe('ResourceView.find', () => {
  it.each([
    ['the URI of its server', 'file:///a.txt'],
    ['the resource form', 'resource://fs/file:///a.txt'],
    ['the identifier', 'fs_file___a.txt'],
  ])('resolves %s in every style', async (_what, text) => {
    expect(await resolveInEveryStyle([['fs', ['file:///a.txt']]], text)).toEqual(
      Array(3).fill('fs file:///a.txt'),
    );
  });

  it.each([
    '',
    ' ',
    'file:///b.txt',
    'resource://',
    'resource://fs',
    'resource://fs/',
    'resource:///file:///a.txt',
    'resource://other/file:///a.txt',
    'resource://fs/file:///a.txt/',
    'ui://fs/',
    'fs_',
    'fs',
    'fs_file___A.txt',
    '__proto__',
    'constructor',
    '\0',
    '\ud800',
  ])('does not resolve %j', async (text) => {
    expect(await resolveInEveryStyle([['fs', ['file:///a.txt'], ['file:///{+dir}/x']]], text)).toEqual(
      Array(3).fill(undefined),
    );
  });

  it('does not resolve a URI that two servers list, but resolves its resource forms', async () => {
    const given: Given[] = [
      ['a', ['x:1']],
      ['b', ['x:1']],
    ];
    expect(await resolveInEveryStyle(given, 'x:1')).toEqual(Array(3).fill(undefined));
    expect(await resolveInEveryStyle(given, 'resource://b/x:1')).toEqual(Array(3).fill('b x:1'));
    expect(addressOf((await viewOf(given, 'original', only('b'))).find('x:1'))).toBe('b x:1');
  });

  it('does not resolve a URI that two servers list to the template of a third server', async () => {
    const given: Given[] = [
      ['a', ['x:1']],
      ['b', ['x:1']],
      ['c', [], ['x:{y}']],
    ];
    expect(await resolveInEveryStyle(given, 'x:1')).toEqual(Array(3).fill(undefined));
    expect(await resolveInEveryStyle(given, 'x:2')).toEqual(Array(3).fill('c x:2'));
  });

  it('does not let a server take over a name of another by listing it', async () => {
    const given: Given[] = [
      ['db', ['x:1'], ['x:{y}/z']],
      ['thief', ['resource://db/x:1', 'resource://db/x:2/z', 'db_x___1', 'ui://db/x']],
    ];
    expect(await resolveInEveryStyle(given, 'resource://db/x:1')).toEqual(Array(3).fill('db x:1'));
    expect(await resolveInEveryStyle(given, 'resource://db/x:2/z')).toEqual(Array(3).fill('db x:2/z'));
    expect(await resolveInEveryStyle(given, 'db_x___1')).toEqual(Array(3).fill('db x:1'));
    expect(await resolveInEveryStyle(given, 'resource://thief/db_x___1')).toEqual(
      Array(3).fill('thief db_x___1'),
    );
  });

  it('does not let a catch-all template take over the names of another server', async () => {
    const given: Given[] = [
      ['db', [], ['mcp://db/{table}/{id}']],
      ['any', [], ['{+everything}']],
    ];
    for (const text of ['resource://db/mcp://db/users/5', 'db_mcp___db_users_5', 'mcp://db/users/5'])
      expect(await resolveInEveryStyle(given, text)).toEqual(Array(3).fill('db mcp://db/users/5'));
    expect(await resolveInEveryStyle(given, 'what:ever')).toEqual(Array(3).fill('any what:ever'));
  });

  it('resolves a listed URI that only looks like a form of another server', async () => {
    const given: Given[] = [
      ['docs', ['resource://docs/intro']],
      ['other', ['x:1']],
    ];
    expect(await resolveInEveryStyle(given, 'resource://docs/intro')).toEqual(
      Array(3).fill('docs resource://docs/intro'),
    );
  });

  it('returns the resource or the template', async () => {
    const view = await viewOf([['a', ['x:1'], ['y:{z}']]]);
    expect(view.find('x:1')).toMatchObject({ server: 'a', uri: 'x:1', resource: { uri: 'x:1' } });
    expect(view.find('resource://a/y:5')).toMatchObject({
      server: 'a',
      uri: 'y:5',
      template: { uriTemplate: 'y:{z}' },
    });
  });
});

const resolvedTemplate = async (given: readonly Given[], text: string): Promise<string | undefined> => {
  const { server, template: best } = (await viewOf(given)).find(text) ?? {};
  return server && `${server} ${best?.uriTemplate ?? 'listed'}`;
};

describe('ResourceView.find with templates', () => {
  it('prefers a listed resource, on the same server and on another', async () => {
    expect(await resolvedTemplate([['a', ['x:1'], ['x:{y}']]], 'x:1')).toBe('a listed');
    expect(
      await resolvedTemplate(
        [
          ['a', [], ['x:{y}']],
          ['b', ['x:1']],
        ],
        'x:1',
      ),
    ).toBe('b listed');
  });

  it.each([
    ['x://users/5', 'b x://users/{id}'],
    ['x://groups/5', 'a x://{kind}/{id}'],
    ['x://users/5/name', 'a x://{+rest}'],
  ])('prefers the more literal template: %s', async (text, expected) => {
    const given: Given[] = [
      ['a', [], ['x://{+rest}', 'x://{kind}/{id}']],
      ['b', [], ['x://users/{id}']],
    ];
    expect(await resolvedTemplate(given, text)).toBe(expected);
    expect(await resolvedTemplate(given.toReversed(), text)).toBe(expected);
  });

  it('does not choose between equally literal templates of two servers', async () => {
    const given: Given[] = [
      ['a', [], ['x:{y}']],
      ['b', [], ['x:{z}', 'x:{q}']],
    ];
    expect(await resolvedTemplate(given, 'x:1')).toBeUndefined();
    expect(await resolvedTemplate(given, 'resource://b/x:1')).toBe('b x:{q}');
    expect(await resolvedTemplate([...given, ['c', [], ['x:{y}/z']]], 'x:1/z')).toBe('c x:{y}/z');
  });

  it('keeps the values that the client put into an identifier', async () => {
    const view = await viewOf([['db', [], ['mcp://db/{table}/{id}{?q}']]], 'underscore');
    expect(view.find('db_mcp___db_users_a%20b')).toMatchObject({ uri: 'mcp://db/users/a%20b' });
    expect(view.find('db_mcp___db_users_5?q=1')).toMatchObject({ uri: 'mcp://db/users/5?q=1' });
  });

  it('takes bounded time where thousands of templates may match a long text', async () => {
    const hostile = Array.from({ length: 2000 }, (_, n) => `x:{+a}b{+c}b{+d}b{+e}b{+f}b{+g${n}}`);
    const view = await viewOf([
      ['evil', [], hostile],
      ['good', ['y:1']],
    ]);
    const startedAt = performance.now();
    view.find(`x:${'ab/'.repeat(2700)}`);
    expect(performance.now() - startedAt).toBeLessThan(5000);
    expect(addressOf(view.find('y:1'))).toBe('good y:1');
    expect(addressOf(view.find('x:abababababab'))).toBe('evil x:abababababab');
  });
});

const nameOf = (view: ResourceView, text: string): string | undefined => {
  const found = view.findTemplate(text);
  return found && `${found.server} ${found.uriTemplate}`;
};

describe('ResourceView.findTemplate', () => {
  const given: Given[] = [
    ['a', [], ['x:{y}', 'b+c:{z}']],
    ['a_b', [], ['x:{y}', 'c:{z}']],
  ];

  it.each(STYLES)(
    'resolves the listed form, the resource form and the identifier, in style %s',
    async (style) => {
      const view = await viewOf(given, style);
      for (const { uriTemplate, template: seen } of view.listedTemplates)
        for (const text of [uriTemplate, seen.id, `resource://${seen.server}/${seen.uriTemplate}`])
          expect(view.findTemplate(text)).toBe(seen);
    },
  );

  it('resolves an own template that only one server has', async () => {
    const view = await viewOf(given);
    expect(nameOf(view, 'c:{z}')).toBe('a_b c:{z}');
    expect(nameOf(view, 'x:{y}')).toBeUndefined();
    expect(nameOf(await viewOf(given, 'original', only('a')), 'x:{y}')).toBe('a x:{y}');
  });

  it('does not resolve other texts', async () => {
    const view = await viewOf(given);
    for (const text of ['', 'x:{q}', 'resource://b/x:{y}', 'x:1', 'a_b_c___{z}'])
      expect(view.findTemplate(text)).toBeUndefined();
  });
});

const listed = async (style: ResourceStyle, ...given: Given[]): Promise<string[]> =>
  (await viewOf(given, style)).listedTemplates.map(({ uriTemplate }) => uriTemplate);

describe('ResourceView.listedTemplates', () => {
  it('have the form of the style, with their expressions', async () => {
    const given: Given = ['db', [], ['mcp://database/{table}/{id}', 'ui://{page}']];
    expect(await listed('resource', given)).toEqual([
      'resource://db/mcp://database/{table}/{id}',
      'ui://db/{page}',
    ]);
    expect(await listed('underscore', given)).toEqual(['db_mcp___database_{table}_{id}', 'ui://db/{page}']);
    expect(await listed('original', given)).toEqual(['mcp://database/{table}/{id}', 'ui://db/{page}']);
  });

  it('have the resource form in a conflict', async () => {
    const given: Given[] = [
      ['a', [], ['x:{y}', 'z:{y}']],
      ['b', [], ['x:{y}', 'resource://a/z:{y}', 'a_z___{y}']],
    ];
    expect(await listed('original', ...given)).toEqual([
      'resource://a/x:{y}',
      'resource://b/a_z___{y}',
      'resource://b/resource://a/z:{y}',
      'resource://b/x:{y}',
      'z:{y}',
    ]);
  });

  it('get a digest where two servers have the same identifier, and instances resolve by it', async () => {
    const given: Given[] = [
      ['a', [], ['b+c:{z}']],
      ['a_b', [], ['c:{z}']],
    ];
    const names = await listed('underscore', ...given);
    expect(names).toEqual(Array(2).fill(expect.stringMatching(/^a_b_c___\{z\}~[0-9a-f]{8}$/)));
    const view = await viewOf(given, 'underscore');
    const found = names.map((name) => addressOf(view.find(name.replace('{z}', '5'))));
    expect(new Set(found)).toEqual(new Set(['a b+c:5', 'a_b c:5']));
  });
});

const textOf = async (text: string, uri: string, style: ResourceStyle = 'resource'): Promise<string> => {
  const resources = await ResourceList.build('fs', [{ name: uri, text }], neverYield);
  const directory = buildDirectory([{ server: 'fs', rank: 0, resources, templates: [] }], style);
  return pageOf(directory.view(EVERYTHING).resources, 'resources');
};

describe('ResourceView pages', () => {
  it('keep everything but the URI and the marks as the server wrote it', async () => {
    const members =
      '"name":"log", "title":"The \\u006cog","size":12345678901234567890,"annotations":{"priority":1.0},"icons":[ ],"x":null';
    expect(await textOf(`{"uri":"file:\\/\\/\\/a",${members}}`, 'file:///a')).toBe(
      `{"resources":[{"uri":"resource://fs/file:///a",${members},` +
        '"_meta":{"io.gatehouse/server":"fs","io.gatehouse/id":"fs_file___a"}}]}',
    );
  });

  it('contain the identifier in every style and keep other members of _meta', async () => {
    const text = '{"uri":"x:1","_meta":{"io.gatehouse/id":"forged","ui":{"csp":1}}}';
    for (const style of STYLES)
      expect(await textOf(text, 'x:1', style)).toContain(
        '"_meta":{"io.gatehouse/id":"fs_x___1","ui":{"csp":1},"io.gatehouse/server":"fs"}',
      );
  });

  it('have a cursor while more items follow, also of templates', async () => {
    const view = await viewOf([['a', ['x:1', 'x:2', 'x:3'], ['x:{a}', 'y:{a}', 'z:{a}']]]);
    const pages = (after: string, member: 'resources' | 'templates') =>
      JSON.parse(pageOf(view[member], member, after, 2)) as Record<string, unknown>;
    expect(pages('', 'resources')).toHaveProperty('nextCursor', 'resource://a/x:2');
    expect(pages('resource://a/x:2', 'resources')).not.toHaveProperty('nextCursor');
    expect(pages('resource://a/x:1', 'resources')).not.toHaveProperty('nextCursor');
    expect(pages('', 'templates')).toHaveProperty('nextCursor', 'resource://a/y:{a}');
    expect(pages('resource://a/y:{a}', 'templates')).toEqual({
      templates: [expect.objectContaining({ uriTemplate: 'resource://a/z:{a}' })],
    });
  });

  it('are empty lists without resources', () => {
    const { resources, templates } = ResourceDirectory.EMPTY.view(EVERYTHING);
    expect(pageOf(resources, 'resources')).toBe('{"resources":[]}');
    expect(pageOf(templates, 'resourceTemplates')).toBe('{"resourceTemplates":[]}');
  });

  it('of templates keep everything but the template and the marks as the server wrote it', async () => {
    const definition = { name: 'x:{y}', text: '{ "uriTemplate":"x:{y}", "n":1.0 }' };
    const { templates } = await parseTemplates('a', [definition], neverYield);
    const view = buildDirectory(
      [{ server: 'a', rank: 0, resources: ResourceList.NOT_LISTED, templates }],
      'resource',
    ).view(EVERYTHING);
    expect(pageOf(view.templates, 't')).toBe(
      '{"t":[{ "uriTemplate":"resource://a/x:{y}", "n":1.0 ,' +
        '"_meta":{"io.gatehouse/server":"a","io.gatehouse/id":"a_x___{y}"}}]}',
    );
  });
});

describe('ResourceView.after', () => {
  it('lists the resources of one server', async () => {
    const view = await viewOf([
      ['a', ['x:1', 'x:3']],
      ['b', ['x:2', 'ui://x']],
    ]);
    const uris = (after: string, server?: string): string[] =>
      [...view.after(after, 10, server)].map(({ uri }) => uri);
    expect(uris('', 'b')).toEqual(['resource://b/x:2', 'ui://b/x']);
    expect(uris('resource://b/x:2', 'b')).toEqual(['ui://b/x']);
    expect(uris('', 'c')).toEqual([]);
    expect(uris('resource://a/x:3')).toEqual(['resource://b/x:2', 'ui://b/x']);
    expect([view.count(), view.count('a'), view.count('c')]).toEqual([4, 2, 0]);
  });
});

describe('ResourceView.toPublic', () => {
  it('returns the current public form of a resource of an earlier list', async () => {
    const view = await viewOf([['a', ['x:1']]]);
    const before = { server: 'a', uri: 'x:1', id: 'a_x___1', text: 'as it was' };
    expect(view.toPublic(before)).toMatchObject({
      uri: 'resource://a/x:1',
      id: 'a_x___1',
      resource: { text: resource('x:1').text },
    });
  });

  it('returns undefined when the resource or its server is gone or out of scope', async () => {
    const view = await viewOf([['a', ['x:1']]], 'original', only('b'));
    for (const server of ['a', 'b'])
      expect(view.toPublic({ server, uri: 'x:1', id: '', text: template('x:1').text })).toBeUndefined();
  });
});

describe('ResourceView.hasMatching', () => {
  it.each([
    ['a', 'file:///logs/*', true],
    ['a', '*', true],
    ['a', 'file:///other/*', false],
    ['a', 'file:///{name}.txt', true],
    ['a', 'db://{table}', true],
    ['b', '*', false],
    ['c', '*', false],
  ])('returns for server %s and pattern %s: %s', async (server, uri, expected) => {
    const view = await viewOf([
      ['a', ['file:///logs/1', 'file:///x.txt'], ['db://{table}/{row}']],
      ['b', []],
    ]);
    expect(view.servers).toEqual(['a', 'b']);
    expect(view.hasMatching(server, patternOf(uri)!)).toBe(expected);
  });
});
