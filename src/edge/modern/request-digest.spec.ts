import { describe, expect, it } from '@jest/globals';
import { membersOf } from '../../lib/json-text/json-text.js';
import { requestDigest } from './request-digest.js';

const BASE = { principal: { id: 'alice' }, method: 'tools/call', namedProjects: [] as string[] };
const PARAMS = '{"name":"a","arguments":{"x":1,"y":{"b":[1,2],"c":null}},"_meta":{"k":1}}';
const LONG = 'x'.repeat(40_000);

const digest = (paramsText: string | undefined, changes: Partial<typeof BASE> = {}): string =>
  requestDigest({ ...BASE, ...changes, paramsText }).toString('hex');

describe('requestDigest', () => {
  it.each([
    ['answers and state', '{"requestState":"s","inputResponses":{"q1":{}},' + PARAMS.slice(1)],
    [
      'another order and white space',
      '{ "_meta":{"k":1}, "arguments":{"y":{"c":null,"b":[1,2]},"x":1.0},"name":"a"}',
    ],
    [
      'members of one hop',
      PARAMS.replace(
        '"k":1',
        '"progressToken":7,"k":1,"traceparent":"00-a-b-01","io.modelcontextprotocol/clientCapabilities":{"roots":{}},' +
          '"io.modelcontextprotocol/logLevel":"debug"',
      ),
    ],
  ])('is the same with %s', (_, params) => {
    expect(digest(params)).toBe(digest(PARAMS));
  });

  it.each([
    ['arguments', PARAMS.replace('"x":1', '"x":2')],
    ['an array', PARAMS.replace('[1,2]', '[2,1]')],
    ['a name', PARAMS.replace('"a"', '"b"')],
    ['a member of _meta', PARAMS.replace('"k":1', '"k":2')],
    ['a key that moved', '{"name":"a","arguments":{"x":1,"y":{"b":[1,2],"c":null},"_meta":{"k":1}}}'],
    ['no params', undefined],
  ])('differs for another %s', (_, params) => {
    expect(digest(params)).not.toBe(digest(PARAMS));
  });

  it.each([
    ['principal', { principal: { id: 'bob' } }],
    ['method', { method: 'prompts/get' }],
    ['project', { namedProjects: ['p'] }],
  ])('differs for another %s', (_, changes) => {
    expect(digest(PARAMS, changes)).not.toBe(digest(PARAMS));
  });

  it('compares long values as texts', () => {
    const params = (end: string): string =>
      `{"arguments":{"x":"${LONG}${end}"},"_meta":{"progressToken":"${LONG}"}}`;
    const other = params('1').replace('"_meta":{', '"_meta":{"traceparent":"t",');
    expect(digest(other)).toBe(digest(params('1')));
    expect(digest(params('2'))).not.toBe(digest(params('1')));
    const reordered = (members: string): string => digest(`{"arguments":{${members}}}`);
    expect(reordered(`"a":"${LONG}","b":1`)).not.toBe(reordered(`"b":1,"a":"${LONG}"`));
  });

  it('uses the members that are known', () => {
    const paramsMembers = membersOf(PARAMS);
    const known = requestDigest({ ...BASE, paramsText: PARAMS, paramsMembers });
    expect(known.toString('hex')).toBe(digest(PARAMS));
  });
});
