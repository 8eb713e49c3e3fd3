import { describe, expect, it, jest } from '@jest/globals';
import { AdminHarness } from '../../test/kit/admin-harness.js';
import { recordLog } from '../../test/kit/log-lines.js';

const secretsOf = (headers: Record<string, string>): AdminHarness['secrets'] =>
  new AdminHarness({ mcpServers: { api: { url: 'http://api.example/', headers } } }).secrets;

describe('SecretRedactor', () => {
  it('replaces secrets in every string and name of a value', () => {
    const secrets = secretsOf({ authorization: 'Bearer s3cret-t0ken', 'x-key': 'k3y-of-api' });
    expect(
      secrets.redact({
        a: ['uses k3y-of-api'],
        's3cret-t0ken': { b: 'Bearer s3cret-t0ken', n: 7, no: null },
      }),
    ).toEqual({ a: ['uses [redacted]'], '[redacted]': { b: '[redacted]', n: 7, no: null } });
  });

  it('leaves nothing of secrets that overlap', () => {
    const secrets = secretsOf({ a: 'abcdefgh-1', b: 'fgh-1-ijkl' });
    expect(secrets.redact('abcdefgh-1-ijkl')).toBe('[redacted]');
  });

  it('lets the event loop run between the items of a page', async () => {
    const secrets = secretsOf({ 'x-key': 'k3y-of-api' });
    const yieldIfDue = jest.fn(() => Promise.resolve());
    const page = await secrets.redactPage({ items: ['k3y-of-api', 'b'], total: 2 }, yieldIfDue);
    expect(page).toEqual({ items: ['[redacted]', 'b'], total: 2 });
    expect(yieldIfDue).toHaveBeenCalledTimes(2);
  });

  it('redacts a secret of a server that was added later', async () => {
    recordLog();
    const harness = new AdminHarness();
    expect(harness.secrets.redact('n3w-s3cret')).toBe('n3w-s3cret');
    const definition = { url: 'http://api.example/', headers: { 'x-key': 'n3w-s3cret' } };
    await harness.servers.put(harness.caller(), 'api', definition);
    expect(harness.secrets.redact('n3w-s3cret')).toBe('[redacted]');
  });
});
