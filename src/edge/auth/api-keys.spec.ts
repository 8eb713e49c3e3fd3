import { hash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createKey, type KeyOptions } from '../../cli/key-create.js';
import { hashOf, type ApiKeyConfig } from '../../config/api-key-config.js';
import { ApiKeys } from './api-keys.js';

const NOON = Date.parse('2027-01-31T12:00:00Z');

const sha256 = (text: string): string => hash('sha256', text, 'hex');

function make(options: Partial<KeyOptions> = {}): { key: string; config: Readonly<ApiKeyConfig> } {
  const given = { id: 'ci', projects: ['payments'], ...options };
  const { key } = createKey(given);
  return { key, config: { ...given, hash: hashOf(key) } };
}

const open = (configs: readonly ApiKeyConfig[], now = () => NOON) => {
  const keys = new ApiKeys(configs, now);
  return Object.assign(keys, { of: (key: string) => keys.find(sha256(key)) });
};

describe('ApiKeys', () => {
  const ci = make();

  it('returns the principal of a key with its grants', () => {
    const other = make({ id: 'nightly', projects: ['a', 'b'] });
    const keys = open([ci.config, other.config]);
    expect(keys.of(ci.key)).toEqual({ id: 'key:ci', grants: new Set(['payments']) });
    expect(keys.of(other.key)).toEqual({ id: 'key:nightly', grants: new Set(['a', 'b']) });
  });

  it.each([[['*']], [['payments', '*']]])('grants all projects for %j', (projects) => {
    const { key, config } = make({ projects });
    expect(open([config]).of(key)?.grants).toBe('*');
  });

  it('grants nothing for an empty list', () => {
    const { key, config } = make({ projects: [] });
    expect(open([config]).of(key)?.grants).toEqual(new Set());
  });

  it.each([
    ['a wrong key', make().key],
    ['the beginning of the key', ci.key.slice(0, -1)],
    ['more than the key', `${ci.key}A`],
    ['the key in capitals', ci.key.toUpperCase()],
    ['the key in small letters', ci.key.toLowerCase()],
    ['the key without its prefix', ci.key.replace('gatehouse_', '')],
    ['the hash of the key', ci.config.hash],
    ['the digest of the key', ci.config.hash.replace('sha256:', '')],
    ['the id of the key', 'ci'],
    ['nothing', ''],
  ])('does not accept %s', (_what, key) => {
    expect(open([ci.config]).of(key)).toBeUndefined();
  });

  it('does not accept half of a digest', () => {
    const half = sha256(ci.key).slice(0, 32);
    expect(open([ci.config]).find(half.padEnd(64, '0'))).toBeUndefined();
  });

  it('accepts a hash in upper case', () => {
    const config = { ...ci.config, hash: ci.config.hash.toUpperCase().replace('SHA', 'sha') };
    expect(open([config]).of(ci.key)?.id).toBe('key:ci');
  });

  it.each(['2027-01-31T12:00:00Z', '2027-01-31T13:00+01:00'])('expires keys at %s, not before', (expires) => {
    const { key, config } = make({ expires });
    let now = NOON - 1;
    const keys = open([config], () => now);
    const principal = keys.of(key)!;
    expect(keys.isCurrent(principal)).toBe(true);
    now = NOON;
    expect(() => keys.of(key)).toThrow(expect.objectContaining({ kind: 'expired' }));
    expect(keys.isCurrent(principal)).toBe(false);
  });

  it('expires keys at the start of a day in UTC, if only the day is given', () => {
    const { key, config } = make({ expires: '2027-01-31' });
    expect(() => open([config], () => Date.parse('2027-01-31T00:00:00Z')).of(key)).toThrow('expired');
    expect(open([config], () => Date.parse('2027-01-30T23:59:59Z')).of(key)).toBeDefined();
  });

  describe('after replace', () => {
    const other = make({ id: 'nightly' });

    it('refuses a removed key', () => {
      const keys = open([ci.config, other.config]);
      const [removed, unchanged] = [keys.of(ci.key)!, keys.of(other.key)!];
      keys.replace([other.config]);
      expect(keys.of(ci.key)).toBeUndefined();
      expect(keys.isCurrent(removed)).toBe(false);
      expect(keys.of(other.key)).toBe(unchanged);
      expect(keys.isCurrent(unchanged)).toBe(true);
    });

    it('refuses every key when none is left', () => {
      const keys = open([ci.config]);
      keys.replace([]);
      expect(keys.of(ci.key)).toBeUndefined();
    });

    it('makes a new principal when the grants change', () => {
      const keys = open([ci.config]);
      const before = keys.of(ci.key)!;
      keys.replace([{ ...ci.config, projects: ['billing'] }]);
      expect(keys.of(ci.key)).toEqual({ id: 'key:ci', grants: new Set(['billing']) });
      expect(keys.isCurrent(before)).toBe(false);
    });

    it('makes a new principal when the hash of an id changes', () => {
      const keys = open([ci.config]);
      const before = keys.of(ci.key)!;
      keys.replace([{ ...other.config, id: 'ci' }]);
      expect(keys.of(ci.key)).toBeUndefined();
      expect(keys.of(other.key)?.id).toBe('key:ci');
      expect(keys.isCurrent(before)).toBe(false);
    });
  });
});
