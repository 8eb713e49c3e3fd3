import { describe, expect, it } from '@jest/globals';
import { hashOf } from '../config/api-key-config.js';
import { readConfig } from '../config/load-config.js';
import { createKey, type KeyOptions } from './key-create.js';

describe('createKey', () => {
  it('makes unique keys of 256 random bits', () => {
    const keys = Array.from({ length: 1000 }, () => createKey({ id: 'ci', projects: [] }).key);
    expect(new Set(keys).size).toBe(1000);
    for (const key of keys) {
      expect(key).toMatch(/^gatehouse_[A-Za-z0-9_-]{43}$/);
      expect(Buffer.from(key.slice('gatehouse_'.length), 'base64url')).toHaveLength(32);
    }
  });

  it.each<KeyOptions>([
    { id: 'ci', projects: ['payments', 'billing'] },
    { id: '7', projects: ['*'], expires: '2027-01-31' },
    { id: 'true', projects: ['null'], expires: '2027-01-31T18:00:00+02:00' },
    { id: 'unprivileged', projects: [] },
  ])('gives a configuration line with the same meaning as its entry: %j', (options) => {
    const { key, entry, configLine } = createKey(options);
    const { auth } = readConfig({
      text: `auth:\n  apiKeys:\n    ${configLine}\n`,
      source: 'g.yaml',
      env: {},
    });
    expect(auth.apiKeys).toEqual([{ ...options, hash: hashOf(key) }]);
    expect(auth.apiKeys).toEqual([entry]);
    expect(configLine).not.toContain(key);
  });

  it.each<[string, KeyOptions]>([
    ['id: must have 1 to 64 characters', { id: 'a b', projects: [] }],
    ['projects: every item must be the name of a project', { id: 'a', projects: ['a b'] }],
    ['expires: must be an existing date', { id: 'a', projects: [], expires: '2027-02-29' }],
  ])('throws a RangeError: %s', (problem, options) => {
    expect(() => createKey(options)).toThrow(new RegExp(`^${problem}`));
    expect(() => createKey(options)).toThrow(RangeError);
  });
});
