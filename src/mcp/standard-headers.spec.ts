import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  headerValue,
  nameMemberOf,
  requireMethodHeader,
  requireNameHeader,
  standardHeaders,
  textOfHeader,
} from './standard-headers.js';

const decoded = (value: string): string => {
  const [, base64] = /^=\?base64\?(.*)\?=$/.exec(value) ?? [];
  return base64 === undefined ? value : Buffer.from(base64, 'base64').toString();
};

describe('headerValue', () => {
  it.each(['add', 'file:///a b', 'a\tb', '=?base64?', 'x=?base64?eA==?='])('keeps %j', (text) => {
    expect(headerValue(text)).toBe(text);
  });

  it.each([
    ['', '=?base64??='],
    [' a', '=?base64?IGE=?='],
    ['a ', '=?base64?YSA=?='],
    ['a\r\nx: 1', '=?base64?YQ0KeDogMQ==?='],
    ['größe', '=?base64?Z3LDtsOfZQ==?='],
    ['=?base64?eA==?=', '=?base64?PT9iYXNlNjQ/ZUE9PT89?='],
  ])('encodes %j', (text, value) => {
    expect(headerValue(text)).toBe(value);
  });

  it('has only characters of a header, and is decoded to the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }).filter(isWellFormed), (text) => {
        expect(headerValue(text)).toMatch(/^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/);
        expect(decoded(headerValue(text))).toBe(text);
      }),
    );
  });
});

const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);

describe('standardHeaders', () => {
  it.each([
    ['tools/list', undefined, 'mcp-method: tools/list\r\n'],
    ['tools/call', 'add', 'mcp-method: tools/call\r\nmcp-name: add\r\n'],
    ['resources/read', 'a://ö', 'mcp-method: resources/read\r\nmcp-name: =?base64?YTovL8O2?=\r\n'],
  ])('of %s %s', (method, name, lines) => {
    expect(standardHeaders(method, name)).toBe(lines);
  });
});

describe('nameMemberOf', () => {
  it.each([
    ['tools/call', 'name'],
    ['prompts/get', 'name'],
    ['resources/read', 'uri'],
    ['completion/complete', undefined],
    ['tools/list', undefined],
  ])('of %s is %s', (method, member) => {
    expect(nameMemberOf(method)).toBe(member);
  });
});

describe('textOfHeader', () => {
  it.each<[string | string[] | undefined, string | undefined]>([
    [undefined, undefined],
    ['add', 'add'],
    ['=?base64?Z3LDtsOfZQ==?=', 'größe'],
    ['=?base64??=', ''],
    ['=?base64?eA==', '=?base64?eA=='],
    // No padding, other alphabets, and bytes that are no UTF-8.
    ['=?base64?eA?=', undefined],
    ['=?base64?e A==?=', undefined],
    ['=?base64?-_==?=', undefined],
    ['=?base64?eB==?=', undefined],
    ['=?base64?/w==?=', undefined],
    [['a', 'b'], undefined],
  ])('of %j is %j', (value, text) => {
    expect(textOfHeader(value)).toBe(text);
  });

  it('is the text that was encoded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }).filter(isWellFormed), (text) => {
        expect(textOfHeader(headerValue(text))).toBe(text);
      }),
    );
  });
});

const mismatch = expect.objectContaining({ kind: 'header-mismatch' });

describe('requireMethodHeader', () => {
  it('accepts only the method of the body', () => {
    expect(() => requireMethodHeader('tools/list', { 'mcp-method': 'tools/list' })).not.toThrow();
    for (const header of [undefined, '', 'Tools/list', 'tools/list, tools/list'])
      expect(() => requireMethodHeader('tools/list', { 'mcp-method': header })).toThrow(mismatch);
  });
});

describe('requireNameHeader', () => {
  it.each<[string, object | undefined, string | undefined]>([
    ['tools/call', { name: 'a' }, 'a'],
    ['tools/call', { name: 'größe' }, '=?base64?Z3LDtsOfZQ==?='],
    ['resources/read', { uri: 'a://b', name: 'c' }, 'a://b'],
    ['tools/list', { name: 'a' }, undefined],
    // The handler refuses params without a name.
    ['tools/call', {}, 'a'],
    ['tools/call', { name: 7 }, undefined],
    ['tools/call', undefined, undefined],
  ])('accepts %s %j with %j', (method, params, header) => {
    expect(() => requireNameHeader(method, params as never, { 'mcp-name': header })).not.toThrow();
  });

  it.each<[string, object, string | undefined]>([
    ['tools/call', { name: 'a' }, undefined],
    ['tools/call', { name: 'a' }, 'b'],
    ['tools/call', { name: 'a' }, 'A'],
    ['prompts/get', { name: 'a' }, 'a, a'],
    ['resources/read', { uri: 'a://b' }, 'a://b/'],
    ['tools/call', { name: 'größe' }, '=?base64?Z3LDtsOfZQ?='],
  ])('refuses %s %j with %j', (method, params, header) => {
    expect(() => requireNameHeader(method, params as never, { 'mcp-name': header })).toThrow(mismatch);
  });
});
