import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { template, templates as someTemplates, neverYield } from '../../../test/kit/resource-offers.js';
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

const best = (templates: readonly ResourceTemplate[], text: string, form: 'uri' | 'id' = 'uri'): string[] =>
  bestInstances(templates, text, form).map(({ template: { server, uriTemplate }, uri }) =>
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

  it('are none of a server beyond the work limit, and are found for others', async () => {
    const many = await templatesOf('a', ...Array.from({ length: 400 }, (_, n) => `x:{a}{b}{c${n}}`));
    const templates = [...many, ...(await templatesOf('b', 'x:{+d}'))];
    expect(best(templates, 'x:1/2')).toEqual(['b x:{+d} x:1/2']);
    const long = `x:1/${'2'.repeat(8000)}`;
    expect(best(templates, long)).toEqual([`b x:{+d} ${long}`]);
    expect(best([...(await templatesOf('a', '{+any}')), ...many], long)).toEqual([]);
  });
});
