import { describe, expect, it } from '@jest/globals';
import { MAX_EXPRESSIONS, UriTemplate } from './uri-template.js';

const many = (expression: string) => `x://${expression.repeat(MAX_EXPRESSIONS)}/end`;

const partsOf = (template: string, uri: string) => UriTemplate.parse(template)!.match(uri);

describe('UriTemplate.parse', () => {
  it('splits a template into literals and expressions', () => {
    const template = UriTemplate.parse('mcp://database/{table}/{id}{?fields*}')!;
    expect(template.text).toBe('mcp://database/{table}/{id}{?fields*}');
    expect(template.literals).toEqual(['mcp://database/', '/', '', '']);
    expect(template.expressions).toEqual(['{table}', '{id}', '{?fields*}']);
    expect(template.literalLength).toBe('mcp://database//'.length);
  });

  it('accepts a text without expressions, which matches only itself', () => {
    expect(partsOf('file:///logs/app.log', 'file:///logs/app.log')).toEqual([]);
    expect(partsOf('file:///logs/app.log', 'file:///logs/app.log2')).toBeUndefined();
    expect(partsOf('', '')).toEqual([]);
  });

  it.each([
    '{a.b}',
    '{a_1}',
    '{%41b}',
    '{a:1}',
    '{a:9999}',
    '{a*}',
    '{+a,b*,c:3}',
    '{1}',
    '{?a,a}',
    'ü{a}ü {b}',
  ])('accepts %s', (text) => {
    expect(UriTemplate.parse(text)?.text).toBe(text);
  });

  it.each([
    ['no variable', '{}'],
    ['an operator alone', '{?}'],
    ['an open brace alone', 'x{'],
    ['a closed brace alone', 'x}'],
    ['an expression without its end', 'x/{a'],
    ['an expression without its beginning', 'x/a}'],
    ['nested braces', '{a{b}c}'],
    ['braces in braces', '{{a}}'],
    ['a reserved operator', '{=a}'],
    ['another reserved operator', '{|a*}'],
    ['an unknown operator', '{$a}'],
    ['two operators', '{/?a}'],
    ['a space', '{a b}'],
    ['a space after the comma', '{a, b}'],
    ['a name without its end', '{a.}'],
    ['half a percent encoding', '{%4}'],
    ['nothing between two commas', '{a,,b}'],
    ['a comma at the end', '{a,}'],
    ['a limit of zero', '{a:0}'],
    ['a limit of five digits', '{a:10000}'],
    ['a limit without a number', '{a:}'],
    ['a limit that is not a number', '{a:prefix}'],
    ['both modifiers', '{a:2*}'],
    ['a modifier twice', '{a**}'],
    ['a default value', '{?a=b}'],
  ])('rejects %s', (_what, text) => {
    expect(UriTemplate.parse(text)).toBeUndefined();
  });

  it('accepts a hyphen in a name, although RFC 6570 does not', () => {
    expect(UriTemplate.parse('x://{user-id}')?.match('x://7')).toEqual(['7']);
  });

  it('rejects templates above the limits', () => {
    expect(UriTemplate.parse('{a}'.repeat(MAX_EXPRESSIONS))).toBeDefined();
    expect(UriTemplate.parse('{a}'.repeat(MAX_EXPRESSIONS + 1))).toBeUndefined();
    expect(UriTemplate.parse('{a}'.repeat(100_000))).toBeUndefined();
    expect(UriTemplate.parse(`{?${'a,'.repeat(31)}a}`)).toBeDefined();
    expect(UriTemplate.parse(`{?${'a,'.repeat(32)}a}`)).toBeUndefined();
    expect(UriTemplate.parse(`x://${'a'.repeat(8185)}{a}`)).toBeDefined();
    expect(UriTemplate.parse(`x://${'a'.repeat(8186)}{a}`)).toBeUndefined();
    expect(UriTemplate.parse('{'.repeat(8000))).toBeUndefined();
    expect(UriTemplate.parse('{a'.repeat(4000))).toBeUndefined();
    expect(UriTemplate.parse(`{${'a'.repeat(8000)}}`)).toBeUndefined();
  });
});

describe('UriTemplate.match', () => {
  it.each([
    ['mcp://database/{table}/{id}', 'mcp://database/users/42', ['users', '42']],
    ['x://{a}', 'x://value', ['value']],
    ['x://{a}', 'x://left unencoded, ü & (all)', ['left unencoded, ü & (all)']],
    ['x://{a}', 'x://50%', ['50%']],
    ['x://{a,b}', 'x://1,2', ['1,2']],
    ['x://{a*}', 'x://k=v,l=w', ['k=v,l=w']],
    ['x://{+path}', 'x://a/b?c#d', ['a/b?c#d']],
    ['x://a{#part}', 'x://a#b/c?d', ['#b/c?d']],
    ['x://a{#part}', 'x://a', ['']],
    ['x://a{.ext}', 'x://a.tar.gz', ['.tar.gz']],
    ['x://a{.ext}', 'x://a', ['']],
    ['x://a{/id}', 'x://a', ['']],
    ['x://a{/id}', 'x://a/', ['/']],
    ['x://a{/id}', 'x://a/1', ['/1']],
    ['x://a{/b,c}', 'x://a/1/2', ['/1/2']],
    ['x://a{/path*}', 'x://a/1/2//3', ['/1/2//3']],
    ['x://a{/path*}/end', 'x://a/1/2/end', ['/1/2']],
    ['x://a{;b}', 'x://a;b=1', [';b=1']],
    ['x://a{;b}', 'x://a;b', [';b']],
    ['x://a{;b}tail', 'x://a;btail', [';b']],
    ['x://a{;p*}', 'x://a;any=1;other', [';any=1;other']],
    ['x://a{?q,r}', 'x://a', ['']],
    ['x://a{?q,r}', 'x://a?r=2', ['?r=2']],
    ['x://a{?q,r}', 'x://a?r=2&q=1', ['?r=2&q=1']],
    ['x://a{?q,r}', 'x://a?q=1&q=2', ['?q=1&q=2']],
    ['x://a{?q}', 'x://a?q', ['?q']],
    ['x://a{?q}', 'x://a?q=', ['?q=']],
    ['x://a{?q}', 'x://a?q=b/c?d=e', ['?q=b/c?d=e']],
    ['x://a{?q}{#part}', 'x://a?q=1#p', ['?q=1', '#p']],
    ['x://a{?p*}', 'x://a?any=1&other', ['?any=1&other']],
    ['x://a?f=1{&q}', 'x://a?f=1&q=2', ['&q=2']],
    ['x://a?f=1{&q}', 'x://a?f=1', ['']],
    ['x://a?q={q}', 'x://a?q=', ['']],
    ['x://a?q={q}&r={r}', 'x://a?q=&r=', ['', '']],
    ['x://a?q={+q}', 'x://a?q=', ['']],
    ['{scheme}://{host}{/path*}{?q}', 'x://h/a/b?q=1', ['x', 'h', '/a/b', '?q=1']],
  ])('%s matches %s', (template, uri, parts) => {
    expect(partsOf(template, uri)).toEqual(parts);
  });

  it.each([
    ['x://{a}', 'x://'],
    ['x://{a}/b', 'x:///b'],
    ['x://{a}', 'x://b/c'],
    ['x://{a}', 'x://b?c'],
    ['x://{a}', 'x://b#c'],
    ['x://{a}', 'y://b'],
    ['x://{a}/end', 'x://b/end/'],
    ['x://{a}{b}{c}', 'x://12'],
    ['x://{+path}', 'x://'],
    ['ab{a}b', 'ab'],
    ['ab{a}bc', 'abc'],
    ['x://a{#part}', 'x://ab'],
    ['x://a{.ext}', 'x://a.b/c'],
    ['x://a{/id}', 'x://ab'],
    ['x://a{/id}', 'x://a/1/2'],
    ['x://a{/id}', 'x://a/1?q'],
    ['x://a{/b,c}', 'x://a/1/2/3'],
    ['x://a{;b}', 'x://a;c=1'],
    ['x://a{;b}', 'x://a;b=1/2'],
    ['x://a{?q}', 'x://a?'],
    ['x://a{?q}', 'x://a?r=1'],
    ['x://a{?q}', 'x://a?q=1&r=1'],
    ['x://a{?q}', 'x://a?q=1&'],
    ['x://a{?q}', 'x://a?qq=1'],
    ['x://a{?q}', 'x://a&q=1'],
    ['x://a{?q}', 'x://a?q=1#p'],
    ['x://a{&q}', 'x://a?q=1'],
  ])('%s does not match %s', (template, uri) => {
    expect(partsOf(template, uri)).toBeUndefined();
  });

  it.each([
    ['{name}.{ext}', 'archive.tar.gz', ['archive.tar', 'gz']],
    ['{a}{b}{c}', '12345', ['123', '4', '5']],
    ['{a}-{b}', '1-2-3', ['1-2', '3']],
    ['{+path}/{file}', 'a/b/c', ['a/b', 'c']],
    ['{+path}{?q}', 'a?q=1', ['a?q=1', '']],
    ['{/a}{/b}', '/1', ['/1', '']],
    ['{/a}{/b}', '/1/2', ['/1', '/2']],
    ['{/a*}{/b}', '/1/2/3', ['/1/2/3', '']],
    ['{a}aab{b}', '1aaab2', ['1a', '2']],
    ['{;a}{;a,b}', ';a=1;b=2', [';a=1', ';b=2']],
  ])('returns the match with the longest first parts for %s and %s', (template, uri, parts) => {
    expect(partsOf(template, uri)).toEqual(parts);
  });

  it.each([
    ['{a:3}', 'abc', true],
    ['{a:3}', 'abcd', false],
    ['{a:3}', '%C3%B6%C3%B6%C3%B6', true],
    ['{a:3}', '%C3%B6%C3%B6%C3%B6%C3%B6', false],
    ['{a:3}', '%F0%9F%9A%80%f0%9f%9a%80é', true],
    ['{a:3}', '🚀🚀🚀', true],
    ['{a:3}', '🚀🚀🚀🚀', false],
    ['{a:3}', '%%%', true],
    ['{a:3}', '%zz1', false],
    ['{a:2,b:2}', '12,34', true],
    ['{a:2,b:2}', '12,345', false],
    ['{a:2,b}', '12,3456', true],
    ['{+a:3}', '/a/', true],
    ['{+a:3}', '/a/b', false],
    ['{#a:3}', '#abc', true],
    ['{#a:3}', '#abcd', false],
    ['{.a:3}', '.abc', true],
    ['{.a:3}', '.abcd', false],
    ['{/a:1,b:2}', '/1/23', true],
    ['{/a:1,b:2}', '/1/234', false],
    ['{/a:1,b:2}', '/123/4', false],
    ['{/a:1,b}', '/1/234', true],
    ['{?a:1,b:2}', '?b=12&a=1', true],
    ['{?a:1,b:2}', '?b=12&a=12', false],
    ['{?a:1,b:2}', '?b=123&a=1', false],
    ['{;a:1}', ';a=1', true],
    ['{;a:1}', ';a=12', false],
  ])('counts the characters for %s in %s as they were before encoding', (template, uri, matches) => {
    expect(partsOf(template, uri) !== undefined).toBe(matches);
  });
});

describe('UriTemplate.fill', () => {
  it.each([
    ['mcp://database/{table}/{id}{?q}', ['users', '42', '?q=1'], 'mcp://database/users/42?q=1'],
    ['{a}{b}', ['1', ''], '1'],
    ['x://a', [], 'x://a'],
  ])('puts the parts into %s: %j', (template, parts, uri) => {
    expect(UriTemplate.parse(template)!.fill(parts)).toBe(uri);
  });
});

describe('UriTemplate.match with hostile input', () => {
  const MAX_LENGTH = 8192;
  const uriOf = (unit: string, end: string) =>
    `x://${unit.repeat(MAX_LENGTH).slice(0, MAX_LENGTH - 4 - end.length)}${end}`;

  it.each([
    ['x://{a}{b}{c}/end', 'a', '/end', true],
    ['x://{a}{b}{c}/end', 'a', '/enD', false],
    ['x://{a}{b}{c}/end/{d}', '/end', '/en', false],
    [many('{a}'), 'a', '/end', true],
    [many('{a}'), 'a/', '/end', false],
    [many('{a:9999}'), '%C3%B6a', '/end', true],
    [many('{+a}a'), 'a', 'a/end', true],
    [many('{+a}aab'), 'a', '/end', false],
    [many(`{+a}${'a'.repeat(400)}`), 'a', '/end', true],
    [many(`{+a}${'a'.repeat(400)}b`), 'a', '/end', false],
    [many('{/a*}'), '/', '/end', true],
    [many('{/a,b}'), '/', '/end', false],
    [many('{/a*}/'), '/', '/end', true],
    [many('{.a*}'), '.', '/end', true],
    [many('{&a,aa}'), '&a', '&a/end', true],
    [many('{&a:3,aa:4}'), '&a=a&aa=%41', '&a/end', true],
    [many('{;a,aa}'), ';a=', ';b/end', false],
    [`x://${'{?a,aa}'.repeat(15)}{+b}`, '?a=', '', true],
  ])('takes linear time for %s with %s…', (text, unit, end, matches) => {
    const template = UriTemplate.parse(text)!;
    const uri = uriOf(unit, end);
    const startedAt = performance.now();
    expect(template.match(uri) !== undefined).toBe(matches);
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });
});
