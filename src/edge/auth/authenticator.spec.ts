import { Logger } from '@nestjs/common';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { authSettings, Clock, verdictOn } from '../../../test/kit/auth.js';
import { exchange } from '../../../test/kit/http.js';
import { recordLog } from '../../../test/kit/log-lines.js';
import { serve } from '../../../test/kit/serve.js';
import { createKey } from '../../cli/key-create.js';
import { hashOf } from '../../config/api-key-config.js';
import { NO_AUTH } from '../../config/auth-settings.js';
import { ANONYMOUS, type Principal } from '../../mcp/principal.js';
import { AuthenticationError } from './auth-errors.js';
import { Authenticator } from './authenticator.js';

const { key } = createKey({ id: 'ci', projects: ['payments'] });
const CI = { id: 'ci', hash: hashOf(key), projects: ['payments'] };
const JWT = { issuer: 'https://id.example.com', audience: 'https://mcp.example.com/mcp' };

beforeAll(() => Logger.overrideLogger(false));

const withKeys = (...keys: object[]) => new Authenticator(authSettings({ apiKeys: keys }));

describe('Authenticator', () => {
  it('accepts every request as anonymous without configuration', () => {
    const authenticator = new Authenticator(NO_AUTH);
    expect(authenticator.authenticate({})).toBe(ANONYMOUS);
    expect(authenticator.authenticate({ authorization: 'Bearer x' })).toBe(ANONYMOUS);
    expect(authenticator.isRequired).toBe(false);
    expect(authenticator.isCurrent(ANONYMOUS)).toBe(true);
  });

  it('returns the principal of a key synchronously', () => {
    expect(withKeys(CI).authenticate({ authorization: `Bearer ${key}` })).toEqual({
      id: 'key:ci',
      grants: new Set(['payments']),
    });
  });

  it('accepts a key in any format', async () => {
    const authenticator = withKeys({ ...CI, hash: hashOf('s3cret!$%') });
    expect((await verdictOn(authenticator, 'Bearer s3cret!$%')).status).toBe(200);
  });

  it('refuses every request with an empty list of keys', async () => {
    expect((await verdictOn(withKeys(), `Bearer ${key}`)).status).toBe(401);
    expect((await verdictOn(withKeys())).status).toBe(401);
  });

  it.each([
    ['no header', undefined],
    ['another scheme', `Basic ${Buffer.from(`ci:${key}`).toString('base64')}`],
    ['the key alone', key],
    ['Bearer alone', 'Bearer'],
  ])('requires a token: %s', async (_what, authorization) => {
    expect(await verdictOn(withKeys(CI), authorization)).toEqual({
      status: 401,
      message: 'Unauthorized: a bearer token is required',
      challenge: 'Bearer realm="gatehouse"',
    });
  });

  it.each([
    ['a wrong key', createKey({ id: 'ci', projects: [] }).key],
    ['the beginning of a key', key.slice(0, -1)],
    ['a key in capitals', key.toUpperCase()],
    ['an oversized token', 'a'.repeat(9000)],
    ['a token, where only keys are configured', 'eyJhbGciOiJub25lIn0.e30.x'],
  ])('refuses %s without details', async (_what, token) => {
    const log = recordLog();
    expect(await verdictOn(withKeys(CI), `Bearer ${token}`)).toEqual({
      status: 401,
      message: 'Unauthorized: The token is not valid',
      challenge:
        'Bearer realm="gatehouse", error="invalid_token", error_description="The token is not valid"',
    });
    expect(log.join('')).toContain('token refused');
    expect(log.join('')).not.toContain(token);
  });

  it('refuses an expired key and logs its id', async () => {
    const log = recordLog();
    const authenticator = withKeys({ ...CI, expires: '2020-01-01' });
    expect(await verdictOn(authenticator, `Bearer ${key}`)).toMatchObject({
      status: 401,
      message: 'Unauthorized: The token has expired',
      challenge: expect.stringContaining('error="invalid_token"'),
    });
    expect(JSON.parse(log[0]!)).toMatchObject({ level: 'warn', reason: 'the key ci expired' });
    expect(log.join('')).not.toContain(key);
  });

  it('refuses a malformed header', async () => {
    expect(await verdictOn(withKeys(CI), `Bearer ${key} ${key}`)).toMatchObject({
      status: 400,
      challenge: expect.stringContaining('error="invalid_request"'),
    });
  });

  it('names resource metadata and scopes in the challenge', async () => {
    const authenticator = new Authenticator(authSettings({ jwt: { ...JWT, scopes: ['mcp:use', 'b'] } }));
    expect((await verdictOn(authenticator)).challenge).toBe(
      'Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", scope="mcp:use b"',
    );
  });

  it('accepts a key when tokens are configured too', async () => {
    const authenticator = new Authenticator(authSettings({ apiKeys: [CI], jwt: JWT }));
    expect((await verdictOn(authenticator, `Bearer ${key}`)).principal?.id).toBe('key:ci');
  });

  it('ignores everything but the Authorization header', async () => {
    const authenticator = withKeys(CI);
    const { url } = await serve((request, response) => {
      const { authorization } = request.headers;
      void verdictOn(authenticator, authorization).then(({ status }) => response.writeHead(status).end());
    });
    const headers = { 'x-api-key': key, cookie: `token=${key}`, 'proxy-authorization': `Bearer ${key}` };
    expect((await exchange(`${url}/mcp?access_token=${key}&authorization=Bearer%20${key}`)).status).toBe(401);
    expect((await exchange(url, { headers })).status).toBe(401);
    expect((await exchange(url, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);
  });
});

describe('Authenticator.replace', () => {
  it('refuses a removed key with the next request', async () => {
    const authenticator = withKeys(CI);
    const { principal } = await verdictOn(authenticator, `Bearer ${key}`);
    expect(authenticator.isCurrent(principal!)).toBe(true);
    authenticator.replace(authSettings({ apiKeys: [] }));
    expect((await verdictOn(authenticator, `Bearer ${key}`)).status).toBe(401);
    expect(authenticator.isCurrent(principal!)).toBe(false);
  });

  it('requires credentials when they become configured', async () => {
    const authenticator = new Authenticator(NO_AUTH);
    authenticator.replace(authSettings({ apiKeys: [CI] }));
    expect((await verdictOn(authenticator)).status).toBe(401);
    expect(authenticator.isCurrent(ANONYMOUS)).toBe(false);
  });

  it('refuses an expired key without a reload', async () => {
    const clock = new Clock();
    const expires = new Date(clock.now() + 60_000).toISOString();
    const authenticator = new Authenticator(authSettings({ apiKeys: [{ ...CI, expires }] }), clock.now);
    const { principal } = await verdictOn(authenticator, `Bearer ${key}`);
    clock.forward(60_000);
    expect((await verdictOn(authenticator, `Bearer ${key}`)).status).toBe(401);
    expect(authenticator.isCurrent(principal!)).toBe(false);
  });
});

describe('Authenticator.restorePrincipal', () => {
  it('restores a principal of the previous process if its key is unchanged', () => {
    const earlier = withKeys(CI).authenticate({ authorization: `Bearer ${key}` });
    const stored = withKeys(CI).storedForm(earlier as Principal);
    // Another authenticator has other principal objects.
    expect(stored).toBeUndefined();
    const first = withKeys(CI);
    const record = first.storedForm(first.authenticate({ authorization: `Bearer ${key}` }) as Principal)!;
    expect(record).toMatchObject({ id: 'key:ci', grants: ['payments'] });
    expect(JSON.stringify(record)).not.toContain(CI.hash);
    const later = withKeys(CI);
    expect(later.restorePrincipal(record)).toBe(later.authenticate({ authorization: `Bearer ${key}` }));
    for (const other of [
      withKeys(),
      withKeys({ ...CI, id: 'other' }),
      withKeys({ ...CI, hash: hashOf('other') }),
      withKeys({ ...CI, projects: ['*'] }),
      withKeys({ ...CI, expires: '2020-01-01' }),
      new Authenticator(NO_AUTH),
    ])
      expect(other.restorePrincipal(record)).toBeUndefined();
  });

  it('restores the anonymous principal only without authentication', () => {
    const record = new Authenticator(NO_AUTH).storedForm(ANONYMOUS)!;
    expect(new Authenticator(NO_AUTH).restorePrincipal(record)).toBe(ANONYMOUS);
    expect(withKeys(CI).restorePrincipal(record)).toBeUndefined();
  });
});

describe('refused credentials', () => {
  it.each(['Bearer wrong', 'Bearer two tokens'])(
    'are logged with the address of the client: %s',
    async (authorization) => {
      const log = recordLog();
      const authenticate = async () => withKeys(CI).authenticate({ authorization }, () => '192.0.2.7');
      await expect(authenticate()).rejects.toBeInstanceOf(AuthenticationError);
      expect(log.map((line) => JSON.parse(line) as unknown)).toMatchObject([
        { level: 'warn', message: 'token refused', address: '192.0.2.7', reason: expect.any(String) },
      ]);
    },
  );

  it('are logged with the first twelve digits of the digest of the token', async () => {
    const log = recordLog();
    await verdictOn(withKeys(CI), 'Bearer wrong');
    expect(JSON.parse(log[0]!)).toMatchObject({ digest: expect.stringMatching(/^[0-9a-f]{12}$/) });
  });

  it('are logged as revoked if they are those of a revoked key', () => {
    const log = recordLog();
    const authenticator = new Authenticator(authSettings({ apiKeys: [CI] }), Date.now, undefined, () => true);
    expect(() => authenticator.authenticate({ authorization: `Bearer ${key}` })).toThrow('Unauthorized');
    expect(JSON.parse(log[0]!)).toMatchObject({ reason: 'the key ci is revoked' });
  });

  it('are logged at most ten times a second, and the others counted', () => {
    const log = recordLog();
    jest.spyOn(performance, 'now').mockReturnValue(0);
    const counts = { failures: 0, suppressed: 0 };
    const authenticator = new Authenticator(authSettings({ apiKeys: [CI] }), Date.now, {
      countAuthFailure: () => void counts.failures++,
      countSuppressedLine: () => void counts.suppressed++,
    });
    for (let n = 0; n < 25; n++)
      expect(() => authenticator.authenticate({ authorization: 'Bearer wrong' }, () => '192.0.2.7')).toThrow(
        'Unauthorized',
      );
    expect([log.length, counts]).toEqual([10, { failures: 25, suppressed: 15 }]);
    jest.restoreAllMocks();
  });
});
