import { describe, expect, it } from '@jest/globals';
import { ID_MARK, publicText, SERVER_MARK } from './public-text.js';

const MARKS = { [SERVER_MARK]: 'fs', [ID_MARK]: 'fs_a' };
const marks = '"io.gatehouse/server":"fs","io.gatehouse/id":"fs_a"';

describe('publicText', () => {
  it.each([
    ['without _meta', '{"uri":"a"}', `{"uri":"p","_meta":{${marks}}}`],
    ['with _meta', '{"uri":"a","_meta":{"k":1.0}}', `{"uri":"p","_meta":{"k":1.0,${marks}}}`],
    ['with _meta that is no object', '{"_meta":[1],"uri":"a"}', `{"_meta":{${marks}},"uri":"p"}`],
    [
      'with forged marks',
      '{"uri":"a","_meta":{"io.gatehouse/id":"x","io.gatehouse/server":"y"}}',
      '{"uri":"p","_meta":{"io.gatehouse/id":"fs_a","io.gatehouse/server":"fs"}}',
    ],
    ['with its key twice', '{"uri":"a","uri":"b"}', `{"uri":"p","uri":"p","_meta":{${marks}}}`],
    ['with its key escaped', '{"\\u0075ri":"a"}', `{"\\u0075ri":"p","_meta":{${marks}}}`],
    ['with space', '{ "uri" :\t"a" }', `{ "uri" :\t"p" ,"_meta":{${marks}}}`],
  ])('renames and marks a definition %s', (_what, text, expected) => {
    expect(publicText(text, 'uri', 'p', MARKS)).toBe(expected);
  });

  it('writes a value that has to be escaped as JSON', () => {
    expect(JSON.parse(publicText('{"uri":"a"}', 'uri', 'p"\n\ud800', {}))).toEqual({
      uri: 'p"\n\ud800',
      _meta: {},
    });
  });
});
