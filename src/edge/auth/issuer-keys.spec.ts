import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Logger } from '@nestjs/common';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { generateKeyPair } from 'jose';
import { authSettings, Clock, verdictOn } from '../../../test/kit/auth.js';
import { recordLog } from '../../../test/kit/log-lines.js';
import { OidcIssuer } from '../../../test/kit/oidc-issuer.js';
import { serve } from '../../../test/kit/serve.js';
import { within } from '../../../test/kit/until.js';
import { Authenticator } from './authenticator.js';
import { fetchJson } from './fetch-json.js';
import { metadataUrls } from './issuer-metadata.js';

const AUDIENCE = 'https://mcp.example.com/mcp';
const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

let issuer: OidcIssuer;
let clock: Clock;

beforeAll(() => Logger.overrideLogger(false));

beforeEach(async () => {
  issuer = await OidcIssuer.start('ES256');
  clock = new Clock();
});

const open = (jwt: object = {}): Authenticator =>
  new Authenticator(authSettings({ jwt: { issuer: issuer.url, audience: AUDIENCE, ...jwt } }), clock.now);

let count = 0;
/** A new token, whose verification needs the keys. */
const fresh = (header: Record<string, string> = {}): Promise<string> =>
  issuer.forge({
    claims: { aud: AUDIENCE, exp: Math.floor(clock.now() / 1000) + 300, jti: String(count++) },
    header,
  });

const statusOf = async (authenticator: Authenticator, token: Promise<string> | string = fresh()) =>
  (await verdictOn(authenticator, `Bearer ${await token}`)).status;

describe('IssuerKeys', () => {
  it('fetches once for many tokens, also concurrently', async () => {
    const authenticator = open();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => fresh()));
    const statuses = await Promise.all(tokens.map((token) => statusOf(authenticator, token)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(issuer.jwksFetches).toBe(1);
  });

  it('fetches before the first token on prepare', async () => {
    const authenticator = open();
    await authenticator.prepare();
    const asked = issuer.asked.length;
    expect(await statusOf(authenticator)).toBe(200);
    expect(issuer.asked).toHaveLength(asked);
  });

  it('uses the configured jwksUri without metadata', async () => {
    expect(await statusOf(open({ jwksUri: `${issuer.url}/jwks` }))).toBe(200);
    expect(issuer.asked).toEqual(['/jwks']);
  });

  it('follows a key rotation', async () => {
    const authenticator = open();
    const old = await fresh();
    expect(await statusOf(authenticator, old)).toBe(200);
    await issuer.rotate();
    expect(await statusOf(authenticator)).toBe(200);
    expect(issuer.jwksFetches).toBe(2);
    // The issuer has removed the old key, so tokens that it signed are refused.
    expect(await statusOf(authenticator, old)).toBe(401);
  });

  it('limits fetches for unknown keys', async () => {
    const authenticator = open();
    await authenticator.prepare();
    for (let i = 0; i < 10; i++) expect(await statusOf(authenticator, fresh({ kid: `none-${i}` }))).toBe(401);
    expect(issuer.jwksFetches).toBe(2);
    clock.forward(10_000);
    expect(await statusOf(authenticator, fresh({ kid: 'none' }))).toBe(401);
    expect(issuer.jwksFetches).toBe(3);
    await issuer.rotate();
    clock.forward(10_000);
    expect(await statusOf(authenticator)).toBe(200);
  });

  it('sends no second request for an unknown key after a failed refresh', async () => {
    const authenticator = open({ jwksUri: `${issuer.url}/jwks` });
    await authenticator.prepare();
    issuer.isDown = true;
    clock.forward(30 * MINUTE);
    const asked = issuer.asked.length;
    for (let i = 0; i < 3; i++) expect(await statusOf(authenticator, fresh({ kid: `none-${i}` }))).toBe(401);
    expect(issuer.asked).toHaveLength(asked + 1);
    issuer.isDown = false;
    await issuer.rotate();
    clock.forward(10_000);
    expect(await statusOf(authenticator)).toBe(200);
  });

  it('refetches periodically and refuses removed keys', async () => {
    const authenticator = open();
    const exp = Math.floor(clock.now() / 1000) + 3600;
    const token = await issuer.forge({ claims: { aud: AUDIENCE, exp } });
    expect(await statusOf(authenticator, token)).toBe(200);
    await issuer.rotate();
    clock.forward(9 * MINUTE);
    expect(await statusOf(authenticator, token)).toBe(200);
    clock.forward(MINUTE);
    expect(await statusOf(authenticator, token)).toBe(401);
  });

  it('uses cached keys for a day at most while the issuer is down', async () => {
    const log = recordLog();
    const authenticator = open();
    expect(await statusOf(authenticator)).toBe(200);
    issuer.isDown = true;
    clock.forward(30 * MINUTE);
    const asked = issuer.asked.length;
    for (let i = 0; i < 5; i++) expect(await statusOf(authenticator)).toBe(200);
    // One attempt at both metadata URLs, then none within the minimum interval.
    expect(issuer.asked).toHaveLength(asked + 2);
    expect(log.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({ level: 'warn', issuer: issuer.url, hasKeys: true }),
    ]);
    clock.forward(DAY);
    expect(await statusOf(authenticator)).toBe(401);
    issuer.isDown = false;
    clock.forward(10_000);
    expect(await statusOf(authenticator)).toBe(200);
  });

  it('sends no error code while there are no keys', async () => {
    issuer.isDown = true;
    const authenticator = open();
    const verdict = await verdictOn(authenticator, `Bearer ${await fresh()}`);
    expect(verdict).toMatchObject({ status: 401, message: expect.stringContaining('try again later') });
    expect(verdict.challenge).not.toContain('error=');
    issuer.isDown = false;
    clock.forward(1000);
    expect(await statusOf(authenticator)).toBe(200);
  });
});

const answer = (text: string, status = 200, headers = {}) => {
  return (response: ServerResponse) => response.writeHead(status, headers).end(text);
};

const endless = (response: ServerResponse): void => {
  response.writeHead(200);
  const chunk = '{"keys":['.padEnd(65_536);
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
};

describe('IssuerKeys with a bad response', () => {
  it.each<[string, (response: ServerResponse) => unknown]>([
    ['no JSON', answer('<html>')],
    ['no key set', answer('{"keys":5}')],
    ['nothing', answer('null')],
    ['an error', answer('{"keys":[]}', 500)],
    ['a redirect', (response) => answer('', 302, { location: `${issuer.url}/jwks` })(response)],
    ['a body without end', endless],
    ['a cut connection', (response) => response.destroy()],
  ])('refuses tokens: %s', async (_what, script) => {
    const { url } = await serve((_request, response) => script(response));
    const log = recordLog();
    expect(await within('a verdict', statusOf(open({ jwksUri: `${url}/jwks` })))).toBe(401);
    expect(log[0]).toContain('the keys of the token issuer cannot be fetched');
    expect(issuer.asked).toEqual([]);
  });

  it('keeps the cached keys', async () => {
    let script: (response: ServerResponse) => unknown = answer(
      JSON.stringify({ keys: [issuer.key.publicJwk] }),
    );
    const { url } = await serve((_request, response) => script(response));
    const authenticator = open({ jwksUri: `${url}/jwks` });
    expect(await statusOf(authenticator)).toBe(200);
    script = endless;
    clock.forward(30 * MINUTE);
    expect(await within('a verdict', statusOf(authenticator))).toBe(200);
  });

  it('refuses a private key in the key set', async () => {
    const { url } = await serve((_request, response) =>
      answer(JSON.stringify({ keys: [issuer.key.jwk] }))(response),
    );
    expect(await statusOf(open({ jwksUri: `${url}/jwks` }))).toBe(401);
  });

  it('times out', async () => {
    const { url } = await serve(() => {});
    await expect(within('a failure', fetchJson(url, AbortSignal.timeout(20)))).rejects.toThrow('aborted');
  });

  it('closes the connection when the response is too long', async () => {
    let ended: Promise<unknown> | undefined;
    const { url } = await serve((_request, response) => {
      ended = once(response, 'close');
      endless(response);
    });
    await expect(fetchJson(url, AbortSignal.timeout(5000))).rejects.toThrow('more than 262144 bytes');
    await within('the connection to end', ended!);
  });

  it.each([
    ['is nested more than 16 levels deep', `${'['.repeat(17)}${']'.repeat(17)}`],
    ['has more than 20000 members', `{"keys":[${'0,'.repeat(20_000)}0]}`],
    ['is not JSON', '{"keys":'],
    ['is not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ])('refuses a response that %s', async (problem, body) => {
    const { url } = await serve((_request, response) => void response.end(body));
    await expect(fetchJson(url, AbortSignal.timeout(5000))).rejects.toThrow(`a body that ${problem}`);
  });

  it('accepts a response in several chunks', async () => {
    const { url } = await serve((_request, response) => {
      response.write('{"keys":');
      response.end('[]}');
    });
    expect(await fetchJson(url, AbortSignal.timeout(5000))).toEqual({ keys: [] });
  });
});

describe('issuer metadata', () => {
  it.each([
    [
      'https://id.example.com',
      ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'],
    ],
    [
      'https://id.example.com/',
      ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'],
    ],
    [
      'https://id.example.com/realms/a',
      ['/realms/a/.well-known/openid-configuration', '/.well-known/oauth-authorization-server/realms/a'],
    ],
  ])('of %s are at %j', (url, paths) => {
    expect(metadataUrls(url)).toEqual(paths.map((path) => `https://id.example.com${path}`));
  });

  it.each<[string, (own: string) => object, string | undefined, number]>([
    [
      'of OpenID Connect are accepted',
      (own) => ({ issuer: own, jwks_uri: `${issuer.url}/jwks` }),
      'openid',
      200,
    ],
    ['of OAuth are accepted', (own) => ({ issuer: own, jwks_uri: `${issuer.url}/jwks` }), 'oauth', 200],
    [
      'of another issuer are refused',
      () => ({ issuer: issuer.url, jwks_uri: `${issuer.url}/jwks` }),
      undefined,
      401,
    ],
    ['without a jwks_uri are refused', (own) => ({ issuer: own }), undefined, 401],
    [
      'with an insecure jwks_uri are refused',
      (own) => ({ issuer: own, jwks_uri: 'http://id.example.com/jwks' }),
      undefined,
      401,
    ],
    [
      'with a jwks_uri of a file are refused',
      (own) => ({ issuer: own, jwks_uri: 'file:///etc/passwd' }),
      undefined,
      401,
    ],
  ])('%s', async (_what, metadata, place, status) => {
    const { url } = await serve((request, response) => {
      const isThere = request.url?.includes(place ?? 'well-known');
      response.writeHead(isThere ? 200 : 404).end(JSON.stringify(metadata(url)));
    });
    const token = await issuer.forge({
      claims: { iss: url, aud: AUDIENCE, exp: Math.floor(clock.now() / 1000) + 300 },
    });
    expect(await statusOf(open({ issuer: url }), token)).toBe(status);
  });
});

it('a token of one algorithm is not verified with the key of another', async () => {
  const { privateKey } = await generateKeyPair('Ed25519');
  const token = issuer.forge({
    claims: { aud: AUDIENCE, exp: Math.floor(clock.now() / 1000) + 300 },
    header: { alg: 'Ed25519' },
    key: privateKey,
  });
  expect(await statusOf(open(), token)).toBe(401);
});
