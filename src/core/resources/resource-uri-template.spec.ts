import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { distinctId, underscoreId } from './resource-uri.js';
import { UriTemplate } from '../../lib/uri-template/uri-template.js';

/** The URI that an identifier stands for under the template of one server. */
function resolve(template: string, id: string, server = 'db'): string | undefined {
  const parts = UriTemplate.parse(underscoreId({ server, uri: template }))!.match(id);
  return parts && UriTemplate.parse(template)!.fill(parts);
}

const DATABASE = 'mcp://database/{table}/{id}';

describe('the identifier of a template', () => {
  it.each([
    [DATABASE, 'db_mcp___database_users_42', 'mcp://database/users/42'],
    ['mcp://{host}/a?b={c}', 'db_mcp___h.example_a_b_1', 'mcp://h.example/a?b=1'],
    ['note:{id}', 'db_note___7', 'note:7'],
    ['docs/{page}.md', 'db____docs_intro.md', 'docs/intro.md'],
    ['x://a{/path*}{?q}', 'db_x___a/b/c?q=1', 'x://a/b/c?q=1'],
    ['x://a{?q,r}', 'db_x___a', 'x://a'],
  ])('of %s, used as %s, resolves to %s', (template, id, uri) => {
    expect(resolve(template, id)).toBe(uri);
  });

  it.each([
    'db_mcp___database_users',
    'db_mcp___databases_users_42',
    'other_mcp___database_users_42',
    'db_mcp___database__42',
  ])('does not match %s', (id) => {
    expect(resolve(DATABASE, id)).toBeUndefined();
  });

  it('stays a template when a digest follows', () => {
    const id = distinctId({ server: 'db', uri: DATABASE });
    const digest = id.slice(id.indexOf('~'));
    expect(UriTemplate.parse(id)!.match(`db_mcp___database_users_42${digest}`)).toEqual(['users', '42']);
  });

  it('resolves to the instance when the values have only letters, digits and hyphens', () => {
    const value = fc.stringMatching(/^[A-Za-z0-9-]{1,8}$/);
    const literal = fc.constantFrom('/', '?x=', '&y=', '/a/', '//', ' ', '#', '_.', '/a.b:');
    fc.assert(
      fc.property(fc.array(fc.tuple(literal, value), { minLength: 1, maxLength: 5 }), (steps) => {
        const template = `x://h${steps.map(([text]) => `${text}{v}`).join('')}`;
        const uri = `x://h${steps.flat().join('')}`;
        expect(resolve(template, underscoreId({ server: 'db', uri }))).toBe(uri);
      }),
    );
  });

  it('resolves to the expansion of the original when a client expands it', () => {
    const template = 'file://{host}{/path*}{?q,r}{#part}';
    const text = fc.string({ unit: 'grapheme', maxLength: 5 }).map(encodeURIComponent);
    const expansion = fc.tuple(
      text.filter((host) => host !== ''),
      fc.array(text).map((path) => path.map((segment) => `/${segment}`).join('')),
      text.map((q) => `?q=${q}`),
      text.map((part) => `#${part}`),
    );
    fc.assert(
      fc.property(expansion, (parts) => {
        const listed = UriTemplate.parse(underscoreId({ server: 'db', uri: template }))!;
        expect(resolve(template, listed.fill(parts))).toBe(UriTemplate.parse(template)!.fill(parts));
      }),
    );
  });

  it('never resolves to a URI that the original does not match', () => {
    const id = fc.string({ unit: fc.constantFrom('a', '_', '.', '/', '?q=', '&', '#', ';'), maxLength: 12 });
    const template = fc.constantFrom(
      'x://{a}/{b}',
      'x://{+a}{b}',
      'x://a{/b*}',
      'x://{a}{?q}',
      'x://a?q={b}',
      '{a}:{b}',
    );
    fc.assert(
      fc.property(template, id, (original, rest) => {
        const uri = resolve(
          original,
          underscoreId({ server: 'db', uri: original }).replace(/\{.*/, '') + rest,
        );
        fc.pre(uri !== undefined);
        expect(UriTemplate.parse(original)!.match(uri)).toBeDefined();
      }),
    );
  });
});

/**
 * An underscore may belong to a value or replace the separator between two values. The identifier is ambiguous then, and
 * the rule of every match applies: the first value is as long as possible. The resource form is not ambiguous.
 */
describe('the identifier of an instance whose values have underscores', () => {
  it('resolves to the URI whose first values are longest', () => {
    expect(resolve(DATABASE, 'db_mcp___database_user_roles_42')).toBe('mcp://database/user_roles/42');
    expect(resolve(DATABASE, 'db_mcp___database_users_a_b')).toBe('mcp://database/users_a/b');
  });

  it('resolves to a URI with that identifier, possibly another than intended', () => {
    const value = fc.stringMatching(/^[a-z0-9]{1,3}(_[a-z0-9]{1,3}){0,3}$/);
    fc.assert(
      fc.property(value, value, (table, row) => {
        const id = underscoreId({ server: 'db', uri: `mcp://database/${table}/${row}` });
        expect(underscoreId({ server: 'db', uri: resolve(DATABASE, id)! })).toBe(id);
      }),
    );
  });

  it('is exact for a template with one value', () => {
    expect(resolve('mcp://database/{table}', 'db_mcp___database_user_roles')).toBe(
      'mcp://database/user_roles',
    );
  });

  it('does not restore characters that became underscores, unless the client writes the value unchanged', () => {
    expect(resolve('file:///{+path}', 'fs_file___logs_app.log', 'fs')).toBe('file:///logs_app.log');
    expect(resolve('file:///{+path}', 'fs_file___logs/app.log', 'fs')).toBe('file:///logs/app.log');
  });
});
