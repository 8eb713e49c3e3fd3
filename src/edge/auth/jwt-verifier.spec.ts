import { createSecretKey } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { exportSPKI, generateKeyPair, importJWK, SignJWT, UnsecuredJWT, type CryptoKey } from 'jose';
import { authSettings, Clock, verdictOn } from '../../../test/kit/auth.js';
import { recordLog } from '../../../test/kit/log-lines.js';
import { OidcIssuer, type ForgedToken } from '../../../test/kit/oidc-issuer.js';
import { Authenticator } from './authenticator.js';

const AUDIENCE = 'https://mcp.example.com/mcp';
const CLOCK_TOLERANCE_S = 60;

let issuer: OidcIssuer;
let clock: Clock;

beforeAll(async () => {
  Logger.overrideLogger(false);
  issuer = await OidcIssuer.start();
});

beforeEach(() => {
  clock = new Clock();
});

function open(jwt: object = {}): Authenticator {
  return new Authenticator(
    authSettings({ jwt: { issuer: issuer.url, audience: AUDIENCE, ...jwt } }),
    clock.now,
  );
}

/** A token with the claims of a valid one, except for `changes`. */
async function forged(changes: ForgedToken['claims'] = {}, other: Omit<ForgedToken, 'claims'> = {}) {
  return issuer.forge({ claims: { aud: AUDIENCE, exp: seconds() + 300, ...changes }, ...other });
}

const seconds = (): number => Math.floor(clock.now() / 1000);

const claims = () => ({ iss: issuer.url, sub: 'admin', aud: AUDIENCE, exp: seconds() + 300 });

const headerOf = (alg: string): string =>
  Buffer.from(JSON.stringify({ alg, kid: issuer.key.kid })).toString('base64url');

describe('JwtVerifier with a real issuer', () => {
  it('accepts a token and returns its principal with grants', async () => {
    const token = await issuer.token(AUDIENCE);
    expect(await verdictOn(open(), `Bearer ${token}`)).toEqual({
      status: 200,
      principal: { id: `${issuer.url}|agent`, grants: new Set(['payments']) },
    });
  });

  it('caches a verified token', async () => {
    const authenticator = open();
    const authorization = `Bearer ${await issuer.token(AUDIENCE)}`;
    const first = authenticator.authenticate({ authorization });
    expect(first).toBeInstanceOf(Promise);
    expect(authenticator.authenticate({ authorization })).toBeInstanceOf(Promise);
    const principal = await first;
    expect(authenticator.authenticate({ authorization })).toEqual(principal);
  });

  it('restores a principal of the previous process until its token expires, under the same settings', async () => {
    const earlier = open();
    const principal = await earlier.authenticate({ authorization: `Bearer ${await issuer.token(AUDIENCE)}` });
    const record = earlier.storedForm(principal)!;
    const later = open();
    const restored = later.restorePrincipal(record)!;
    expect(restored).toEqual(principal);
    expect(later.isCurrent(restored)).toBe(true);
    expect(open({ projects: ['more'] }).restorePrincipal(record)).toBeUndefined();
    expect(new Authenticator(authSettings({ apiKeys: [] })).restorePrincipal(record)).toBeUndefined();
    clock.forward(record.until! - clock.now());
    expect(later.isCurrent(restored)).toBe(false);
    expect(open().restorePrincipal(record)).toBeUndefined();
    expect(earlier.storedForm(principal)).toBeUndefined();
  });

  it('gives refreshed tokens the same principal id', async () => {
    const authenticator = open();
    const [one, two] = [await issuer.token(AUDIENCE), await issuer.token(AUDIENCE)];
    expect(one).not.toBe(two);
    const owners = await Promise.all([one, two].map((token) => verdictOn(authenticator, `Bearer ${token}`)));
    expect(new Set(owners.map(({ principal }) => principal?.id)).size).toBe(1);
  });

  it('refuses a token for another resource', async () => {
    const token = await issuer.token('https://other.example.com/mcp');
    expect(await verdictOn(open(), `Bearer ${token}`)).toMatchObject({
      status: 401,
      message: 'Unauthorized: The token is not valid',
      challenge:
        'Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", ' +
        'error="invalid_token", error_description="The token is not valid"',
    });
  });

  it('refuses a token of another issuer', async () => {
    const otherIssuer = await OidcIssuer.start();
    const token = await otherIssuer.token(AUDIENCE);
    expect((await verdictOn(open(), `Bearer ${token}`)).status).toBe(401);
    const pretending = await otherIssuer.forge({
      claims: { iss: issuer.url, aud: AUDIENCE, exp: seconds() + 300 },
      header: { kid: issuer.key.kid },
    });
    expect((await verdictOn(open(), `Bearer ${pretending}`)).status).toBe(401);
  });

  it('refuses a token after its expiry and the clock tolerance, also when it is cached', async () => {
    const authenticator = open();
    const token = `Bearer ${await forged({ exp: seconds() + 30 })}`;
    const { principal } = await verdictOn(authenticator, token);
    clock.forward(60_000);
    expect(await verdictOn(authenticator, token)).toEqual({ status: 200, principal });
    expect(authenticator.isCurrent(principal!)).toBe(true);
    clock.forward(31_000);
    expect(await verdictOn(authenticator, token)).toMatchObject({
      status: 401,
      message: 'Unauthorized: The token has expired',
    });
    expect(authenticator.isCurrent(principal!)).toBe(false);
  });

  it('requires the configured scopes', async () => {
    const authenticator = open({ scopes: ['mcp:use'] });
    expect((await verdictOn(authenticator, `Bearer ${await issuer.token(AUDIENCE, 'mcp:use')}`)).status).toBe(
      200,
    );
    expect(await verdictOn(authenticator, `Bearer ${await issuer.token(AUDIENCE)}`)).toMatchObject({
      status: 403,
      challenge: expect.stringMatching(
        /resource_metadata="[^"]+", scope="mcp:use", error="insufficient_scope"/,
      ),
    });
  });
});

describe('a token signed with the key of the issuer', () => {
  it.each<[string, () => ForgedToken['claims'], number]>([
    ['valid claims', () => ({}), 200],
    ['one audience among several', () => ({ aud: ['https://a.example.com', AUDIENCE] }), 200],
    ['an audience that only begins like the configured one', () => ({ aud: `${AUDIENCE}/other` }), 401],
    ['an audience in other case', () => ({ aud: AUDIENCE.toUpperCase() }), 401],
    ['no audience', () => ({ aud: undefined }), 401],
    ['an empty audience', () => ({ aud: [] }), 401],
    ['another issuer', () => ({ iss: 'https://id.example.com' }), 401],
    ['the issuer with a slash', () => ({ iss: `${issuer.url}/` }), 401],
    ['no issuer', () => ({ iss: undefined }), 401],
    ['no subject', () => ({ sub: undefined }), 401],
    ['an empty subject', () => ({ sub: '' }), 401],
    ['a subject that is not a string', () => ({ sub: 5 as never }), 401],
    ['no expiry', () => ({ exp: undefined }), 401],
    ['an expiry that is not a number', () => ({ exp: '9999999999' as never }), 401],
    ['an expiry within the clock tolerance', () => ({ exp: seconds() - CLOCK_TOLERANCE_S + 5 }), 200],
    ['an expiry beyond the clock tolerance', () => ({ exp: seconds() - CLOCK_TOLERANCE_S }), 401],
    ['a start within the clock tolerance', () => ({ nbf: seconds() + CLOCK_TOLERANCE_S - 5 }), 200],
    ['a start beyond the clock tolerance', () => ({ nbf: seconds() + CLOCK_TOLERANCE_S + 5 }), 401],
  ])('with %s is accepted or refused: %#', async (_what, changes, status) => {
    expect((await verdictOn(open(), `Bearer ${await forged(changes())}`)).status).toBe(status);
  });

  it('with a claim of all projects gets them only if the configuration allows it', async () => {
    const token = `Bearer ${await forged({ projects: ['*'] })}`;
    expect((await verdictOn(open(), token)).principal?.grants).toEqual(new Set());
    expect((await verdictOn(open({ allowAllProjects: true }), token)).principal?.grants).toBe('*');
  });

  it('with an algorithm that is not allowed is refused', async () => {
    const authenticator = open({ algorithms: ['ES256'] });
    expect((await verdictOn(authenticator, `Bearer ${await forged()}`)).status).toBe(401);
  });

  it('that was changed afterwards is refused', async () => {
    const [header, payload, signature] = (await forged()).split('.') as [string, string, string];
    const signed = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const changed = Buffer.from(JSON.stringify({ ...signed, sub: 'admin' })).toString('base64url');
    for (const token of [
      `${header}.${changed}.${signature}`,
      `${header}.${payload}.`,
      `${header}.${payload}`,
      `${header}.${payload}.${signature.slice(0, -4)}`,
      `${header}.${payload}.${signature}.${signature}`,
      `${header}..${signature}`,
    ])
      expect((await verdictOn(open(), `Bearer ${token}`)).status).toBe(401);
  });
});

describe('a forged token', () => {
  it('without a signature is refused', async () => {
    const unsecured = new UnsecuredJWT(claims()).encode();
    const [, payload] = unsecured.split('.');
    const signature = (await forged()).split('.')[2];
    for (const token of [
      unsecured,
      `${headerOf('none')}.${payload}.`,
      `${headerOf('None')}.${payload}.${signature}`,
      `${headerOf('')}.${payload}.${signature}`,
    ])
      expect((await verdictOn(open(), `Bearer ${token}`)).status).toBe(401);
  });

  it('signed with the public key as a shared secret is refused', async () => {
    const spki = await exportSPKI(
      (await importJWK(issuer.key.publicJwk, 'RS256', { extractable: true })) as CryptoKey,
    );
    for (const secret of [spki, spki.trim(), String(issuer.key.publicJwk.n)]) {
      const token = await new SignJWT(claims())
        .setProtectedHeader({ alg: 'HS256', kid: issuer.key.kid })
        .sign(createSecretKey(Buffer.from(secret)));
      expect((await verdictOn(open(), `Bearer ${token}`)).status).toBe(401);
    }
  });

  it('with the key id of the issuer but another key is refused', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    expect((await verdictOn(open(), `Bearer ${await forged({}, { key: privateKey })}`)).status).toBe(401);
  });

  it('with its own key is refused without a fetch', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    const jwk = JSON.stringify(issuer.key.jwk);
    for (const header of [{ jku: `${issuer.url}/stolen` }, { x5u: `${issuer.url}/stolen` }, { jwk }]) {
      const token = await forged({}, { key: privateKey, header: header });
      expect((await verdictOn(open(), `Bearer ${token}`)).status).toBe(401);
    }
    expect(issuer.asked).not.toContain('/stolen');
  });

  it('with unknown critical headers is refused', async () => {
    const [, payload, signature] = (await forged()).split('.');
    const header = { alg: 'RS256', kid: issuer.key.kid, crit: ['exp'], exp: 1 };
    const head = Buffer.from(JSON.stringify(header)).toString('base64url');
    expect((await verdictOn(open(), `Bearer ${head}.${payload}.${signature}`)).status).toBe(401);
  });

  it.each([
    'eyJ.eyJ.x',
    'ey..',
    'eyJhbGciOiJSUzI1NiJ9.!!!.x',
    `ey${'a'.repeat(8000)}.b.c`,
    `ey${'a'.repeat(9000)}.b.c`,
  ])('of invalid syntax is refused: %#', async (token) => {
    expect((await verdictOn(open(), `Bearer ${token}`)).status).toBe(401);
  });
});

it('a refused token is logged with the reason and without its content', async () => {
  const log = recordLog();
  const token = await forged({ aud: 'https://other.example.com' });
  await verdictOn(open(), `Bearer ${token}`);
  expect(log.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({
      level: 'warn',
      message: 'token refused',
      reason: 'unexpected "aud" claim value',
      issuer: issuer.url,
    }),
  ]);
  for (const part of token.split('.')) expect(log.join('')).not.toContain(part);
});

it('a change of settings invalidates cached tokens, a reload of equal settings does not', async () => {
  const authenticator = open();
  const token = `Bearer ${await forged()}`;
  const { principal } = await verdictOn(authenticator, token);
  const same = { issuer: issuer.url, audience: AUDIENCE };
  authenticator.replace(authSettings({ jwt: same, apiKeys: [] }));
  expect(authenticator.isCurrent(principal!)).toBe(true);
  expect((await verdictOn(authenticator, token)).principal).toBe(principal);
  authenticator.replace(authSettings({ jwt: { ...same, audience: 'https://new.example.com' } }));
  expect(authenticator.isCurrent(principal!)).toBe(false);
  expect((await verdictOn(authenticator, token)).status).toBe(401);
});
