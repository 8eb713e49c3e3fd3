import { describe, expect, it } from '@jest/globals';
import { clientLabel, MAX_PROFILE_BYTES, readClientProfile } from './client-profile.js';

const read = (params: Record<string, unknown>) => readClientProfile(params, JSON.stringify(params));
const withName = (name: string) => ({ capabilities: { a: 'éé' }, clientInfo: { name } });

describe('readClientProfile', () => {
  it('returns capabilities and client information', () => {
    const profile = { capabilities: { roots: {} }, clientInfo: { name: 'a', version: '1' } };
    expect(read({ ...profile, protocolVersion: 'x'.repeat(MAX_PROFILE_BYTES) })).toEqual(profile);
    expect(read({ capabilities: {} })).toEqual({ capabilities: {}, clientInfo: undefined });
  });

  it('counts the bytes of both together', () => {
    const rest = Buffer.byteLength(JSON.stringify({ a: 'éé' }) + JSON.stringify({ name: '' }));
    const letters = (MAX_PROFILE_BYTES - rest) / 2;
    expect(() => read(withName('é'.repeat(Math.floor(letters))))).not.toThrow();
    expect(() => read(withName('é'.repeat(Math.floor(letters) + 1)))).toThrow(
      expect.objectContaining({
        kind: 'invalid-params',
        memoryLimit: 'client-profile',
        message: 'LimitExceeded: capabilities and clientInfo must not be larger than 16384 bytes together',
      }),
    );
  });

  it.each([undefined, null, [], 'x'])('refuses the capabilities %j', (capabilities) => {
    expect(() => read({ capabilities })).toThrow(expect.objectContaining({ kind: 'invalid-params' }));
  });
});

describe('clientLabel', () => {
  it.each([
    [{ name: 'agent', version: '1.2' }, 'agent 1.2'],
    [{ name: 'agent' }, 'agent'],
    [{ name: 'agent', version: 7 }, 'agent'],
    [{ name: 'x'.repeat(1000), version: '1' }, 'x'.repeat(64)],
    [{ name: 7 }, undefined],
    [undefined, undefined],
    ['agent', undefined],
  ])('names %j', (clientInfo, label) => {
    expect(clientLabel(clientInfo)).toBe(label);
  });
});
