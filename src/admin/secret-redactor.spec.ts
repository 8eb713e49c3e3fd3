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

  it('replaces secrets in arguments and URLs of servers, and no harmless value', () => {
    const { secrets } = new AdminHarness({
      mcpServers: {
        db: {
          command: 'node',
          args: ['--api-key=k3y-of-api', 'postgres://u:pa55-word@db/app', '--region', 'us-east-1'],
          env: {
            HOST: '127.0.0.1',
            REGION: 'eu-central-1',
            URL: 'redis://:h1dden-pw@cache',
            MODE: 'production',
          },
        },
        api: { url: 'http://api.example/mcp?token=t0ken-in-url' },
      },
    });
    const harmless = 'us-east-1 eu-central-1 127.0.0.1 production db/app api.example';
    expect(secrets.redact(harmless)).toBe(harmless);
    for (const secret of ['k3y-of-api', 'pa55-word', 'h1dden-pw', 't0ken-in-url'])
      expect(secrets.redact(`is ${secret}`)).toBe('is [redacted]');
  });

  it('leaves nothing of secrets that overlap', () => {
    const secrets = secretsOf({ 'a-key': 'abcdefgh-1', 'b-key': 'fgh-1-ijkl' });
    expect(secrets.redact('abcdefgh-1-ijkl')).toBe('[redacted]');
  });

  it('lets the event loop run between the items of a page', async () => {
    const secrets = secretsOf({ 'x-key': 'k3y-of-api' });
    const yieldIfDue = jest.fn(() => Promise.resolve());
    const page = {
      items: ['k3y-of-api', 'b'],
      total: 2,
      'k3y-of-api': { none: undefined },
      absent: undefined,
    };
    const text = await secrets.encode(page, yieldIfDue);
    expect(JSON.parse(text)).toEqual({ items: ['[redacted]', 'b'], total: 2, '[redacted]': {} });
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
