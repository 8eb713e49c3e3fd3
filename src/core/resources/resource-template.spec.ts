import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { template, templates as someTemplates, neverYield } from '../../../test/kit/resource-offers.js';
import { publicUriTemplate, parseTemplates, type ResourceTemplate } from './resource-template.js';

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
