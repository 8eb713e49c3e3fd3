import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { tempDir } from '../../test/kit/temp-dir.js';
import { parseToolArguments } from './tool-arguments.js';

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
