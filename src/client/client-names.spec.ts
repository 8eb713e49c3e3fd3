import { describe, expect, it } from '@jest/globals';
import { clientNames } from './client-names.js';

const row = (client: string, clientName?: string) => ({ client, clientName });
const [A, B, C] = ['aaaaaaaaaaaaaaaa', 'bbbbbbbbbbbbbbbb', 'cccccccccccccccc'] as const;

describe('clientNames', () => {
  it.each([
    ['the name', [row(A, 'cursor'), row(B, 'claude')], ['cursor', 'claude']],
    ['the name of one session in several rows', [row(A, 'cursor'), row(A, 'cursor')], ['cursor', 'cursor']],
    [
      'a short id after a name that two sessions have',
      [row(A, 'cursor'), row(B, 'claude'), row(C, 'cursor')],
      ['cursor aaaaaa', 'claude', 'cursor cccccc'],
    ],
    ['the id of a session without a name', [row(A), row(B, 'claude')], [A, 'claude']],
  ])('returns %s', (_what, rows, expected) => {
    expect(rows.map(clientNames(rows))).toEqual(expected);
  });
});
