import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { tempDir } from '../../test/kit/temp-dir.js';
import { parseToolArguments } from './tool-arguments.js';

describe('the arguments of a tool', () => {
  it('are text, or JSON where the sign says so', () => {
    expect(parseToolArguments(undefined, ['a=1', 'b:=1', 'c:=[true]', 'd=x=y', 'e='])).toEqual({
      a: '1',
      b: 1,
      c: [true],
      d: 'x=y',
      e: '',
    });
  });

  it('are an object, from the command line or a file, with pairs over it', () => {
    const file = join(tempDir(), 'args.json');
    writeFileSync(file, '{"a":1,"b":2}');
    expect(parseToolArguments(`@${file}`, ['b:=3'])).toEqual({ a: 1, b: 3 });
    expect(parseToolArguments('{"a":null}', [])).toEqual({ a: null });
  });

  it.each([
    ['[1]', [], '--args must be a JSON object'],
    ['{', [], '--args is no JSON'],
    ['@/nonexistent/x', [], 'cannot be read'],
    [undefined, ['novalue'], 'novalue is no argument'],
    [undefined, ['n:=nope'], 'n:= is no JSON'],
  ])('cannot be %j and %j', (json, pairs, problem) => {
    expect(() => parseToolArguments(json, pairs)).toThrow(problem);
    expect(() => parseToolArguments(json, pairs)).toThrow(RangeError);
  });
});
