import { describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { template, templates as someTemplates, neverYield } from '../../../test/kit/resource-offers.js';
import { runAtOnce } from '../../lib/slices/run-sliced.js';
import { UriTemplate } from '../../lib/uri-template/uri-template.js';
import { TemplateIndex } from './template-index.js';
import {
  bestInstances,
  publicUriTemplate,
  parseTemplates,
  type ResourceTemplate,
} from './resource-template.js';

const parse = async (server: string, ...uriTemplates: string[]) =>
  parseTemplates(server, uriTemplates.map(template), neverYield);

const templatesOf = async (server: string, ...uriTemplates: string[]): Promise<readonly ResourceTemplate[]> =>
  (await parse(server, ...uriTemplates)).templates;

describe('parseTemplates', () => {
  it('parses every template, sorted, and keeps the first of equal ones', async () => {
    const listed = [template('y:{z}'), template('x:{z}'), { name: 'y:{z}', text: 'another' }];
    const { templates, refused } = await parseTemplates('a', listed, neverYield);
    expect(templates.map(({ uriTemplate, text }) => [uriTemplate, text])).toEqual([
      ['x:{z}', template('x:{z}').text],
      ['y:{z}', template('y:{z}').text],
    ]);
    expect(refused).toEqual([]);
  });

  it.each([
    ['with an expression that is not closed', 'x:{y'],
    ['with nested braces', 'x:{{y}}'],
    ['with thousands of nested braces', `x:${'{'.repeat(4000)}y${'}'.repeat(4000)}`],
    ['with thousands of expressions', 'x:' + '{a}'.repeat(2000)],
    ['with an invalid expression', 'x:{a b}'],
    ['that is too long', `x:{y}${'z'.repeat(9000)}`],
  ])('refuses a template %s and keeps the others', async (_what, hostile) => {
    const { templates, refused } = await parse('a', 'x:{y}', hostile, 'y:{z}');
    expect(refused).toEqual([hostile]);
    expect(templates.map(({ uriTemplate }) => uriTemplate)).toEqual(['x:{y}', 'y:{z}']);
  });

  it('gives each a unique identifier that does not depend on their order', () =>
    fc.assert(
      fc.asyncProperty(fc.uniqueArray(someTemplates), async (given) => {
        const templates = await templatesOf('a', ...given);
        expect(new Set(templates.map(({ id }) => id)).size).toBe(given.length);
        const again = await templatesOf('a', ...given.toReversed());
        expect(again.map(({ id }) => id)).toEqual(templates.map(({ id }) => id));
      }),
    ));

  it('keeps the expressions in the identifier', async () => {
    const [first, second] = await templatesOf(
      'db',
      'mcp://database/{table}/{id}',
      'mcp:/database/{table}/{id}',
    );
    for (const { id } of [first!, second!])
      expect(id).toMatch(/^db_mcp___database_\{table\}_\{id\}~[0-9a-f]{8}$/);
    expect(first!.id).not.toBe(second!.id);
    const [alone] = await templatesOf('db', 'mcp://database/{table}/{id}');
    expect(alone!.id).toBe('db_mcp___database_{table}_{id}');
  });
});

describe('publicUriTemplate', () => {
  it.each([
    ['resource', false, 'resource://db/x:{y}'],
    ['underscore', false, 'db_x___{y}'],
    ['underscore', true, 'db_x___{y}'],
    ['original', false, 'x:{y}'],
    ['original', true, 'resource://db/x:{y}'],
  ] as const)('returns the form of style %s, conflicting: %s', async (style, isConflicting, expected) => {
    const [one] = await templatesOf('db', 'x:{y}');
    expect(publicUriTemplate(one!, style, isConflicting)).toBe(expected);
    const [ui] = await templatesOf('db', 'ui://{y}');
    expect(publicUriTemplate(ui!, style, isConflicting)).toBe('ui://db/{y}');
  });
});

const indexesOf = (templates: readonly ResourceTemplate[]): TemplateIndex[] =>
  [...new Set(templates.map(({ server }) => server))].map((each) =>
    runAtOnce(TemplateIndex.build(templates.filter(({ server }) => server === each))),
  );

const best = (templates: readonly ResourceTemplate[], text: string, form: 'uri' | 'id' = 'uri'): string[] =>
  bestInstances(indexesOf(templates), text, form).map(({ template: { server, uriTemplate }, uri }) =>
    [server, uriTemplate, uri].join(' '),
  );

describe('bestInstances', () => {
  it('are those of the template with the most literal characters, in any order', async () => {
    const templates = await templatesOf('a', '{+any}', 'x:{y}', 'x:{y}/z');
    for (const given of [templates, templates.toReversed()]) {
      expect(best(given, 'x:1/z')).toEqual(['a x:{y}/z x:1/z']);
      expect(best(given, 'x:1')).toEqual(['a x:{y} x:1']);
      expect(best(given, 'other')).toEqual(['a {+any} other']);
    }
  });

  it('are several where servers tie, one of each server', async () => {
    const templates = [
      ...(await templatesOf('a', 'x:{y}', 'x:{z}')),
      ...(await templatesOf('b', 'x:{y}', '{+any}')),
    ];
    expect(best(templates, 'x:1')).toEqual(['a x:{y} x:1', 'b x:{y} x:1']);
    expect(best([...templates, ...(await templatesOf('c', 'x:1{y}'))], 'x:12')).toEqual(['c x:1{y} x:12']);
  });

  it('are none for a text that matches no template, and for the empty text', async () => {
    const templates = await templatesOf('a', 'x:{y}', 'x:{+z}');
    for (const text of ['', 'y:1', 'x']) expect(best(templates, text)).toEqual([]);
    expect(best(await templatesOf('a', '{+any}'), '')).toEqual([]);
  });

  it('have the own URI when the text is an identifier', async () => {
    const templates = await templatesOf('db', 'mcp://db/{table}/{id}', 'mcp://other');
    expect(best(templates, 'db_mcp___db_users_5', 'id')).toEqual([
      'db mcp://db/{table}/{id} mcp://db/users/5',
    ]);
    expect(best(templates, 'mcp://db/users/5', 'id')).toEqual([]);
  });

  it('are found among ten thousand templates without trying the others', async () => {
    const many = await templatesOf('a', ...Array.from({ length: 10_000 }, (_, n) => `y${n}://{a}/{b}`));
    const indexes = indexesOf(many);
    const match = jest.spyOn(UriTemplate.prototype, 'match');
    const text = `y7777://${'a'.repeat(8000)}/b`;
    expect(bestInstances(indexes, text, 'uri').map(({ template: { uriTemplate } }) => uriTemplate)).toEqual([
      'y7777://{a}/{b}',
    ]);
    expect(match).toHaveBeenCalledTimes(1);
    match.mockRestore();
  });

  it('are found among ten thousand templates that begin and end alike', async () => {
    const many = await templatesOf('a', ...Array.from({ length: 10_000 }, (_, n) => `x://{a}/n${n}/{b}`));
    const match = jest.spyOn(UriTemplate.prototype, 'match');
    expect(best(many, 'x://tenant/n7777/some-report-of-the-year-2026')).toEqual([
      'a x://{a}/n7777/{b} x://tenant/n7777/some-report-of-the-year-2026',
    ]);
    expect(match.mock.calls.length).toBeLessThan(10);
    match.mockRestore();
  });

  it('are found for a long text that any of ten thousand templates matches', async () => {
    const many = await templatesOf('a', ...Array.from({ length: 10_000 }, (_, n) => `x://{?a*,b${n}*}`));
    expect(best(many, `x://?${'a=b&'.repeat(2000)}`)).toHaveLength(1);
  });

  it('are searched within one limit for all servers', async () => {
    const servers = Array.from({ length: 20 }, (_, n) => `s${n}`);
    const hostile = await Promise.all(
      servers.map((server) =>
        templatesOf(server, ...Array.from({ length: 500 }, (_, n) => `x://{a}{b}{c${n}}/end`)),
      ),
    );
    const few = await templatesOf('b', 'x://{+any}/end', 'x://{+any}');
    const indexes = indexesOf([...hostile.flat(), ...few]);
    const match = jest.spyOn(UriTemplate.prototype, 'match');
    const text = `x://${'a/'.repeat(4000)}end`;
    expect(bestInstances(indexes, text, 'uri').map(({ template: { server } }) => server)).toEqual(['b']);
    const { calls, contexts } = match.mock;
    const characters = calls.reduce(
      (sum, [uri], call) => sum + uri.length * ((contexts[call] as UriTemplate).expressions.length + 1),
      0,
    );
    expect(characters).toBeLessThanOrEqual(2 ** 18 + 2 ** 15);
    expect(characters).toBeGreaterThan(0);
    match.mockRestore();
  });

  it('are none of a server beyond the work limit, and are found for others', async () => {
    const many = await templatesOf('a', ...Array.from({ length: 400 }, (_, n) => `x:{a}{b}{c${n}}`));
    const templates = [...many, ...(await templatesOf('b', 'x:{+d}'))];
    expect(best(templates, 'x:1/2')).toEqual(['b x:{+d} x:1/2']);
    const long = `x:1/${'2'.repeat(8000)}`;
    expect(best(templates, long)).toEqual([`b x:{+d} ${long}`]);
    expect(best([...(await templatesOf('a', '{+any}')), ...many], long)).toEqual([]);
  });
});
