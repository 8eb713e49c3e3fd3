import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { tempDir } from '../../test/kit/temp-dir.js';
import { convertBySchema, parseToolArguments } from './tool-arguments.js';

describe('parseToolArguments', () => {
  it('takes name=text as text and name:=json as JSON', () => {
    expect(parseToolArguments(undefined, ['a=1', 'b:=1', 'c:=[true]', 'd=x=y', 'e='])).toEqual({
      a: '1',
      b: 1,
      c: [true],
      d: 'x=y',
      e: '',
    });
  });

  it('reads a JSON object from the command line or a file and lets pairs override it', () => {
    const file = join(tempDir(), 'args.json');
    writeFileSync(file, '{"a":1,"b":2}');
    expect(parseToolArguments(`@${file}`, ['b:=3'])).toEqual({ a: 1, b: 3 });
    expect(parseToolArguments('{"a":null}', [])).toEqual({ a: null });
  });

  it.each([
    ['[1]', [], '--args must be a JSON object'],
    ['{', [], '--args is not valid JSON'],
    ['@/nonexistent/x', [], 'cannot read /nonexistent/x'],
    [undefined, ['novalue'], 'invalid argument novalue'],
    [undefined, ['n:=nope'], 'n:= is not valid JSON'],
  ])('throws a RangeError for %j and %j', (json, pairs, problem) => {
    expect(() => parseToolArguments(json, pairs)).toThrow(problem);
    expect(() => parseToolArguments(json, pairs)).toThrow(RangeError);
  });
});

describe('convertBySchema', () => {
  const schema = {
    properties: {
      count: { type: 'integer' },
      ratio: { type: 'number' },
      deep: { type: 'boolean' },
      name: { type: 'string' },
      maybe: { type: ['integer', 'null'] },
      either: { anyOf: [{ type: 'number' }, { type: 'string' }] },
      limit: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      paths: { type: 'array' },
      options: { type: 'object' },
      free: {},
      mixed: { oneOf: [{ type: 'number' }, { enum: ['all'] }] },
    },
  };
  const convert = convertBySchema(schema);

  it.each<[string, string, unknown]>([
    ['count', '20', 20],
    ['ratio', '-1.5e3', -1500],
    ['deep', 'true', true],
    ['deep', 'false', false],
    ['name', '20', '20'],
    ['maybe', 'null', null],
    ['maybe', '3', 3],
    ['either', '3', '3'],
    ['limit', '7', 7],
    ['paths', '["a"]', ['a']],
    ['options', '{"a":1}', { a: 1 }],
    ['free', '20', '20'],
    ['mixed', 'all', 'all'],
    ['unknown', 'true', 'true'],
  ])('converts %s=%s', (name, text, value) => {
    expect(convert(name, text)).toEqual(value);
  });

  it.each([
    ['count', '1.5'],
    ['count', ''],
    ['ratio', 'Infinity'],
    ['ratio', ' '],
    ['deep', 'yes'],
    ['limit', 'none'],
    ['paths', '{}'],
    ['options', '[]'],
  ])('refuses %s=%s', (name, text) => {
    expect(() => convert(name, text)).toThrow(`${name} must be of type`);
  });

  it.each([undefined, {}, { properties: 1 }])('keeps the text with the schema %j', (none) => {
    expect(convertBySchema(none)('count', '20')).toBe('20');
  });
});
