import { Logger } from '@nestjs/common';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { authSettings, Clock, verdictOn } from '../../../test/kit/auth.js';
import { exchange } from '../../../test/kit/http.js';
import { recordLog } from '../../../test/kit/log-lines.js';
import { serve } from '../../../test/kit/serve.js';
import { createKey } from '../../cli/key-create.js';
import { hashOf } from '../../config/api-key-config.js';
import { NO_AUTH } from '../../config/auth-settings.js';
import { ANONYMOUS, type Principal } from '../../mcp/principal.js';
import { Authenticator } from './authenticator.js';

const { key } = createKey({ id: 'ci', projects: ['payments'] });
const CI = { id: 'ci', hash: hashOf(key), projects: ['payments'] };
const JWT = { issuer: 'https://id.example.com', audience: 'https://mcp.example.com/mcp' };

beforeAll(() => Logger.overrideLogger(false));

const withKeys = (...keys: object[]) => new Authenticator(authSettings({ apiKeys: keys }));

describe('Authenticator', () => {
  it('lets everybody in where nothing is configured, whatever they bring', () => {
    const authenticator = new Authenticator(NO_AUTH);
    expect(authenticator.authenticate({})).toBe(ANONYMOUS);
    expect(authenticator.authenticate({ authorization: 'Bearer x' })).toBe(ANONYMOUS);
    expect(authenticator.isRequired).toBe(false);
    expect(authenticator.isCurrent(ANONYMOUS)).toBe(true);
  });

  it('knows the owner of a key at once, without a promise', () => {
    expect(withKeys(CI).authenticate({ authorization: `Bearer ${key}` })).toEqual({
      id: 'key:ci',
      grants: new Set(['payments']),
    });
  });

  it('knows a key that was not made here', async () => {
    const authenticator = withKeys({ ...CI, hash: hashOf('s3cret!$%') });
    expect((await verdictOn(authenticator, 'Bearer s3cret!$%')).status).toBe(200);
  });

  it('lets nobody in where the list of keys is empty', async () => {
    expect((await verdictOn(withKeys(), `Bearer ${key}`)).status).toBe(401);
    expect((await verdictOn(withKeys())).status).toBe(401);
  });

  it.each([
    ['no header', undefined],
    ['another scheme', `Basic ${Buffer.from(`ci:${key}`).toString('base64')}`],
    ['the key alone', key],
    ['Bearer alone', 'Bearer'],
  ])('asks for a token: %s', async (_what, authorization) => {
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
    ['what is longer than any token', 'a'.repeat(9000)],
    ['a token, where only keys are configured', 'eyJhbGciOiJub25lIn0.e30.x'],
  ])('refuses %s and says no more than that', async (_what, token) => {
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

  it('says that a key has expired, and in the log whose', async () => {
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

  it('calls a header malformed that holds more than a token', async () => {
    expect(await verdictOn(withKeys(CI), `Bearer ${key} ${key}`)).toMatchObject({
      status: 400,
      challenge: expect.stringContaining('error="invalid_request"'),
    });
  });

  it('says where to get a token, and with which scopes', async () => {
    const authenticator = new Authenticator(authSettings({ jwt: { ...JWT, scopes: ['mcp:use', 'b'] } }));
    expect((await verdictOn(authenticator)).challenge).toBe(
      'Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", scope="mcp:use b"',
    );
  });

  it('takes a key also beside tokens', async () => {
    const authenticator = new Authenticator(authSettings({ apiKeys: [CI], jwt: JWT }));
    expect((await verdictOn(authenticator, `Bearer ${key}`)).principal?.id).toBe('key:ci');
  });

  it('looks at nothing but the Authorization header', async () => {
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
  it('refuses a key from the very request after it was taken away', async () => {
    const authenticator = withKeys(CI);
    const { principal } = await verdictOn(authenticator, `Bearer ${key}`);
    expect(authenticator.isCurrent(principal!)).toBe(true);
    authenticator.replace(authSettings({ apiKeys: [] }));
    expect((await verdictOn(authenticator, `Bearer ${key}`)).status).toBe(401);
    expect(authenticator.isCurrent(principal!)).toBe(false);
  });

  it('asks for credentials where it did not before', async () => {
    const authenticator = new Authenticator(NO_AUTH);
    authenticator.replace(authSettings({ apiKeys: [CI] }));
    expect((await verdictOn(authenticator)).status).toBe(401);
    expect(authenticator.isCurrent(ANONYMOUS)).toBe(false);
  });

  it('notices without a reload that a key expires', async () => {
    const clock = new Clock();
    const expires = new Date(clock.now() + 60_000).toISOString();
    const authenticator = new Authenticator(authSettings({ apiKeys: [{ ...CI, expires }] }), clock.now);
    const { principal } = await verdictOn(authenticator, `Bearer ${key}`);
    clock.forward(60_000);
    expect((await verdictOn(authenticator, `Bearer ${key}`)).status).toBe(401);
    expect(authenticator.isCurrent(principal!)).toBe(false);
  });

  it('recalls in a later life who was let in in an earlier one, as long as nothing changed about it', () => {
    const earlier = withKeys(CI).authenticate({ authorization: `Bearer ${key}` });
    const stored = withKeys(CI).storedForm(earlier as Principal);
    // Not the same list of keys, and so not the same principal.
    expect(stored).toBeUndefined();
    const first = withKeys(CI);
    const described = first.storedForm(first.authenticate({ authorization: `Bearer ${key}` }) as Principal)!;
    expect(described).toMatchObject({ id: 'key:ci', grants: ['payments'] });
    expect(JSON.stringify(described)).not.toContain(CI.hash);
    const later = withKeys(CI);
    expect(later.restorePrincipal(described)).toBe(later.authenticate({ authorization: `Bearer ${key}` }));
    for (const other of [
      withKeys(),
      withKeys({ ...CI, id: 'other' }),
      withKeys({ ...CI, hash: hashOf('other') }),
      withKeys({ ...CI, projects: ['*'] }),
      withKeys({ ...CI, expires: '2020-01-01' }),
      new Authenticator(NO_AUTH),
    ])
      expect(other.restorePrincipal(described)).toBeUndefined();
  });

  it('recalls nobody as nobody in particular, and only where nobody has to be somebody', () => {
    const described = new Authenticator(NO_AUTH).storedForm(ANONYMOUS)!;
    expect(new Authenticator(NO_AUTH).restorePrincipal(described)).toBe(ANONYMOUS);
    expect(withKeys(CI).restorePrincipal(described)).toBeUndefined();
  });
});
