import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { URIS_AT_THE_LIMIT } from '../../../test/kit/uri-lengths.js';
import {
  parseResourceForm,
  distinctId,
  isUi,
  isUriTooLong,
  resourceForm,
  underscoreId,
} from './resource-uri.js';
import { UriTemplate } from '../../lib/uri-template/uri-template.js';

const server = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/),
  fc.constantFrom('a', 'a_b', 'a_', 'a___b', 'a_b_', 'x', 'a.b-c'),
);

/** Pieces that mean something in a URI, in a template or to JavaScript, among arbitrary text. */
const piece = fc.oneof(
  fc.constantFrom(
    'a',
    'B',
    '0',
    '.',
    '-',
    '_',
    '__',
    '~',
    '/',
    '//',
    ':',
    '?',
    '#',
    '%20',
    '+',
    'é',
    '🚀',
    ' ',
  ),
  fc.constantFrom(
    '{',
    '}',
    '{a}',
    '{/a_b*}',
    '{?q,__r}',
    '{a b}',
    '{a{b}}',
    '{+p:3}',
    '{.}',
    '{.a.b}',
    '{a..b}',
    '{%2}',
    '\ud800',
    '\ud801',
    '\0',
  ),
  fc.string({ unit: 'binary', maxLength: 5 }),
);
const pieces = fc.array(piece, { maxLength: 8 }).map((parts) => parts.join(''));
const scheme = fc.constantFrom(
  'file',
  'x',
  's3',
  'git+ssh',
  'a++',
  'view-source',
  'X.y',
  'ui',
  'resource',
  'urn',
  '',
);
const uri = fc
  .tuple(scheme, fc.constantFrom('', ':', '://', ':///', '/'), pieces)
  .map((parts) => parts.join(''))
  .filter((text) => text !== '');

const LETTER = String.raw`([\w-]|%[\dA-Fa-f]{2})`;
const VARIABLE = String.raw`${LETTER}+(\.${LETTER}+)*(\*|:[1-9]\d{0,3})?`;
const EXPRESSION = new RegExp(String.raw`\{[+#./;?&]?${VARIABLE}(,${VARIABLE})*\}`, 'g');

describe('resourceForm', () => {
  it.each([
    ['filesystem', 'file:///logs/app.log', 'resource://filesystem/file:///logs/app.log'],
    ['db', 'mcp://database/{table}/{id}', 'resource://db/mcp://database/{table}/{id}'],
    ['weather', 'ui://forecast/view.html', 'ui://weather/forecast/view.html'],
    ['a', 'resource://b/c', 'resource://a/resource://b/c'],
  ])('of %s, %s is %s', (owner, own, form) => {
    expect(resourceForm({ server: owner, uri: own })).toBe(form);
  });

  it('is parsed into the address that it was made of', () => {
    fc.assert(
      fc.property(
        server,
        fc.oneof(
          uri,
          uri.map((rest) => `ui://${rest}`),
          fc.constant('ui://'),
        ),
        (owner, own) => {
          const form = resourceForm({ server: owner, uri: own });
          expect(parseResourceForm(form)).toEqual({ server: owner, uri: own });
          expect(isUi(form)).toBe(isUi(own));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('of a template is a template of the same expressions', () => {
    fc.assert(
      fc.property(server, uri, (owner, own) => {
        const template = UriTemplate.parse(own);
        fc.pre(template !== undefined);
        const form = UriTemplate.parse(resourceForm({ server: owner, uri: own }));
        expect(form?.expressions).toEqual(template.expressions);
      }),
    );
  });

  it.each([
    '',
    'file:///a',
    'resource:',
    'resource://',
    'resource://a',
    'resource:///a',
    'ui://',
    'ui://a',
    'Resource://a/b',
  ])('does not parse %p', (text) => {
    expect(parseResourceForm(text)).toBeUndefined();
  });
});

describe('underscoreId', () => {
  it.each([
    ['filesystem', 'file:///logs/app.log', 'filesystem_file___logs_app.log'],
    ['db', 'mcp://database/{table}/{id}', 'db_mcp___database_{table}_{id}'],
    ['db', 'mcp://database{/path*}{?q,r}', 'db_mcp___database{/path*}{?q,r}'],
    ['s3', 's3://bucket/config/app.json', 's3_s3___bucket_config_app.json'],
    ['s', 'urn:isbn:1', 's_urn___isbn_1'],
    ['s', 'mailto:x@example.com', 's_mailto___x_example.com'],
    ['s', 'git+ssh://host/a', 's_git_ssh___host_a'],
    ['s', 'a++b:c', 's_a_b___c'],
    ['s', 'README.md', 's____README.md'],
    ['s', '/etc//hosts', 's____etc_hosts'],
    ['s', '{+uri}', 's____{+uri}'],
    ['s', 'x://', 's_x___'],
    ['s', 'x:', 's_x___'],
    ['s', 'x://a__b~c/', 's_x___a_b_c_'],
    ['s', 'x:////~a', 's_x____a'],
    ['s', 'x://a/{{b', 's_x___a_b'],
    ['s', 'x://a{b c}d{é}', 's_x___a_b_c_d_'],
    ['s', 'x://a{.}b{.c}d{e..f}', 's_x___a_._b{.c}d_e..f_'],
    ['s', 'x://a{%}{%20}', 's_x___a_{%20}'],
    ['s', 'x://数据/报告.txt', 's_x____.txt'],
  ])('of %s, %s is %s', (owner, own, id) => {
    expect(underscoreId({ server: owner, uri: own })).toBe(id);
  });

  it('has the server, the scheme, and a rest without consecutive underscores', () => {
    fc.assert(
      fc.property(server, uri, (owner, own) => {
        const [whole, name] = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?/.exec(own)!;
        const head = `${owner}_${(name ?? '').replace(/\++/g, '_')}___`;
        const id = underscoreId({ server: owner, uri: own });
        expect(id.slice(0, head.length)).toBe(head);
        const rest = id.slice(head.length);
        expect(rest.replace(EXPRESSION, 'X')).toMatch(/^(_?[A-Za-z0-9.-])*_?$/);
        expect(rest).toBe(expectedRest(own.slice(whole.length)));
      }),
      { numRuns: 500 },
    );
  });

  it('is the same for a long text as for a short one', () => {
    const long = 'ab/'.repeat(10_000);
    expect(underscoreId({ server: 's', uri: `x://${long}` })).toBe(`s_x___${'ab_'.repeat(10_000)}`);
  });

  it.each(['{', '{a', '{a,', '/', '{a:', '+', 'é{'])(
    'takes linear time for %s repeated 200,000 times',
    (unit) => {
      const begun = performance.now();
      expect(underscoreId({ server: 's', uri: unit.repeat(200_000) })).toMatch(/^s____/);
      expect(performance.now() - begun).toBeLessThan(5000);
    },
  );
});

describe('underscoreId of two servers', () => {
  it('differs for the same URI', () => {
    fc.assert(
      fc.property(server, server, uri, (one, other, own) => {
        fc.pre(one !== other);
        expect(underscoreId({ server: one, uri: own })).not.toBe(underscoreId({ server: other, uri: own }));
      }),
    );
  });

  it('differs for schemes of letters and digits without a special character after them', () => {
    const plain = fc
      .tuple(
        fc.constantFrom('b', 'c', 'b.c', 'b-c'),
        fc.constantFrom(':', '://', ':///'),
        fc.constantFrom('a', '{a__b}'),
        pieces,
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(server, server, plain, plain, (one, other, first, second) => {
        fc.pre(one !== other);
        expect(underscoreId({ server: one, uri: first })).not.toBe(
          underscoreId({ server: other, uri: second }),
        );
      }),
      { numRuns: 500 },
    );
  });

  // Server ids may contain underscores, so other URIs can have equal identifiers, which need a digest.
  it.each([
    [
      { server: 'a', uri: 'git+ssh://h' },
      { server: 'a_git', uri: 'ssh://h' },
    ],
    [
      { server: 'a', uri: 'b:~x' },
      { server: 'a_b', uri: 'x' },
    ],
  ])('can conflict for %j and %j, whose distinct identifiers differ', (one, other) => {
    expect(underscoreId(one)).toBe(underscoreId(other));
    expect(distinctId(one)).not.toBe(distinctId(other));
  });
});

describe('distinctId', () => {
  it('adds eight digits of the digest of the URI', () => {
    const own = 'file:///größe';
    const digest = createHash('sha256').update(own).digest('hex').slice(0, 8);
    expect(distinctId({ server: 's', uri: own })).toBe(`s_file___gr_e~${digest}`);
  });

  it('adds more digits on request', () => {
    expect(distinctId({ server: 's', uri: 'x:y' }, 16)).toMatch(/^s_x___y~[0-9a-f]{16}$/);
  });

  it('differs for URIs that share an identifier', () => {
    const separator = fc.constantFrom(
      '/',
      '?',
      '#',
      '//',
      ' ',
      'é',
      '_',
      '\ud800',
      '\ud801',
      '\udc00',
      '\ufffd',
      '{',
    );
    const separators = fc.tuple(separator, separator);
    fc.assert(
      fc.property(separators, separators, (some, others) => {
        const one = { server: 's', uri: between(...some) };
        const other = { server: 's', uri: between(...others) };
        fc.pre(one.uri !== other.uri);
        expect(underscoreId(one)).toBe(underscoreId(other));
        expect(distinctId(one)).not.toBe(distinctId(other));
      }),
      { numRuns: 500 },
    );
  });
});

const between = (first: string, second: string): string => `x://a${first}b${second}c`;

/** A second implementation of the rule, with regular expressions. */
function expectedRest(rest: string): string {
  const cut = rest.replace(/^\/+/, '').split(new RegExp(`(${EXPRESSION.source.replaceAll('(', '(?:')})`));
  const kept = cut.map((text, index) => (index % 2 === 1 ? text : text.replace(/[^A-Za-z0-9.-]+/g, '_')));
  return kept.join('');
}

describe('isUriTooLong', () => {
  it.each(URIS_AT_THE_LIMIT)('counts bytes of UTF-8 in %s', (_what, longest, tooLong) => {
    expect([isUriTooLong(longest), isUriTooLong(tooLong)]).toEqual([false, true]);
  });
});
