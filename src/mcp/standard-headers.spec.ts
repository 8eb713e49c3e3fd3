import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { headerValue, nameMemberOf, standardHeaders } from './standard-headers.js';

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
