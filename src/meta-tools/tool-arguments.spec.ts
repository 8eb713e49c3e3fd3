import { describe, expect, it } from '@jest/globals';
import { URIS_AT_THE_LIMIT } from '../../test/kit/uri-lengths.js';
import { ArgumentError, ToolArguments } from './tool-arguments.js';

const read = (values: Record<string, unknown>): ToolArguments => new ToolArguments(values);

describe('ToolArguments', () => {
  it.each([
    [undefined, 20],
    [null, 20],
    [1, 1],
    [100, 100],
  ])('reads the limit %j as %i', (limit, expected) => {
    expect(read({ limit }).limit).toBe(expected);
  });

  it.each([0, -1, 101, 1.5, NaN, Infinity, '5', true, [], {}])('refuses the limit %j', (limit) => {
    expect(() => read({ limit }).limit).toThrow(ArgumentError);
  });

  it('uses the page size of the lists by default and allows a larger one', () => {
    expect(read({}).pageSize(200)).toBe(200);
    expect(read({ limit: 1000 }).pageSize(200)).toBe(1000);
    expect(() => read({ limit: 1001 }).pageSize(200)).toThrow(ArgumentError);
  });

  it('trims the query', () => {
    expect(read({ query: '  a b\n' }).query).toBe('a b');
    expect(read({ query: 'x'.repeat(256) }).query).toHaveLength(256);
  });

  it.each([
    [{}, 'query is required'],
    [{ query: null }, 'query is required'],
    [{ query: '' }, 'query must not be empty'],
    [{ query: ' \t' }, 'query must not be empty'],
    [{ query: 7 }, 'query must be a string'],
    [{ query: ['a'] }, 'query must be a string'],
    [{ query: 'x'.repeat(257) }, 'query must not be longer than 256 characters'],
  ])('refuses the query of %j', (values, message) => {
    expect(() => read(values).query).toThrow(new ArgumentError(message));
  });

  it('treats a missing argument and null alike', () => {
    for (const values of [{}, { serverId: null, mimeType: null }])
      expect([read(values).serverId, read(values).mimeType]).toEqual([undefined, undefined]);
    expect(read({ serverId: 'a', mimeType: 'b' })).toMatchObject({ serverId: 'a', mimeType: 'b' });
  });

  it('names a missing argument and the expected type', () => {
    expect(() => read({}).uri).toThrow('uri is required');
    expect(() => read({ uri: 1 }).uri).toThrow('uri must be a string');
    expect(() => read({ name: 'x'.repeat(8193) }).required('name')).toThrow('8192 characters');
    expect(() => read({ serverId: {} }).serverId).toThrow('serverId must be a string');
  });

  it.each(URIS_AT_THE_LIMIT)(
    'accepts the same length of URIs as resources/read, in %s',
    (_what, longest, tooLong) => {
      expect(read({ uri: longest }).uri).toBe(longest);
      expect(() => read({ uri: tooLong }).uri).toThrow(
        new ArgumentError('uri must not be longer than 8192 bytes'),
      );
    },
  );
});
