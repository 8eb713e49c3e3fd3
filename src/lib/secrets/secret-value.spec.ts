import { describe, expect, it } from '@jest/globals';
import { isSecretName, isSecretValue } from './secret-value.js';

describe('isSecretName', () => {
  it.each([
    'API_KEY',
    'apiKey',
    'x-api-key',
    'Authorization',
    'GITHUB_TOKEN',
    'db-password',
    'client_secret',
    'Cookie',
    'PGPASSWORD_PASSWORD',
  ])('is true for %s', (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each(['REGION', 'HOST', 'PATH', 'MAX_TOKENS', 'TOKEN_URL', 'key-file', 'keyboard', 'author', ''])(
    'is false for %j',
    (name) => {
      expect(isSecretName(name)).toBe(false);
    },
  );
});

describe('isSecretValue', () => {
  it.each([
    '127.0.0.1',
    '127.0.0.1:8080',
    '10.0.0.0/8',
    '::1',
    '[::1]:3000',
    'us-east-1',
    'northamerica-northeast1',
    'production',
    'gpt-4o-mini',
    'my_database',
    '30000',
    '30000ms',
    '2026-11-18T10:00:00Z',
    '/var/lib/postgresql',
    './docs/decisions',
    'https://api.example.com/v1',
    'http://localhost:8080',
    'application/json',
    'text/event-stream',
    '--read-only',
    'abc',
    'hunter2',
  ])('is false for %s', (value) => {
    expect(isSecretValue(value, ['OPTION'])).toBe(false);
  });

  it.each([
    's3cret-t0ken',
    'hunter22',
    'ghp_abcdefghijklmnop',
    'correct-horse-battery-staple',
    'postgres://user:pw@db.example.com/app',
    'https://hooks.example.com/9f86d081884c7d659a2feaa0c55ad015',
    'https://api.example.com/?key=1',
    'db.internal.example.com',
    'two words',
    'dGhpcyBpcyBhIHNlY3JldA==',
  ])('is true for %s', (value) => {
    expect(isSecretValue(value, ['OPTION'])).toBe(true);
  });

  it('is true for more values if their name says that they are secret, but not for words and addresses', () => {
    const values = ['us-east-1', 'hunt22', '12345678', 'hunt2', 'production', '127.0.0.1'];
    expect(values.map((value) => isSecretValue(value, ['OPTION', 'DB_PASSWORD']))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
