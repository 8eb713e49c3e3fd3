import { describe, expect, it } from '@jest/globals';
import { hashOf } from './api-key-config.js';
import { NO_AUTH } from './auth-settings.js';
import { ConfigError } from './config-error.js';
import { readConfig } from './load-config.js';

const HASH = hashOf('a key');
const OTHER_HASH = hashOf('another key');

const read = (text: string, env = {}) => readConfig({ text, source: 'g.yaml', env });
const readKeys = (...keys: string[]) => read(`auth: { apiKeys: [${keys.join(', ')}] }`).auth.apiKeys;
const readJwt = (jwt: string) => read(`auth: { jwt: { ${jwt} } }`).auth.jwt;

function problemsOf(text: string): string[] {
  try {
    read(text);
    return [];
  } catch (error) {
    return (error as ConfigError).problems.map(({ path, message }) => `${path}: ${message}`);
  }
}

describe('auth', () => {
  it('is not configured without the section', () => {
    expect(read('{}').auth).toBe(NO_AUTH);
    expect(NO_AUTH.isConfigured).toBe(false);
  });

  it.each([
    ['a key', `apiKeys: [{ id: ci, hash: "${HASH}", projects: [] }]`],
    ['an empty list of keys, so that removing the last key does not allow anonymous access', 'apiKeys: []'],
    ['an issuer', 'jwt: { issuer: "https://id.example.com", audience: "https://mcp.example.com" }'],
  ])('is configured with %s', (_what, auth) => {
    expect(read(`auth: { ${auth} }`).auth.isConfigured).toBe(true);
  });

  it.each(['auth: {}', 'auth:', 'auth:\n  # apiKeys: []'])('is refused when empty: %j', (text) => {
    expect(problemsOf(text)).toEqual([expect.stringContaining('auth: must contain apiKeys or jwt')]);
  });

  it.each(['0.0.0.0', '"::"', 'gatehouse.example.com'])('allows listening on %s', (host) => {
    expect(() => read(`http: { host: ${host} }\nauth: { apiKeys: [] }`)).not.toThrow();
  });
});

describe('auth.apiKeys', () => {
  it('have an id, a hash, projects and an optional expiry', () => {
    const keys = readKeys(
      `{ id: ci, hash: "${HASH}", projects: [payments, "*"] }`,
      `{ id: nightly.build, hash: "${OTHER_HASH}", projects: [], expires: 2027-01-31 }`,
    );
    expect(keys).toEqual([
      { id: 'ci', hash: HASH, projects: ['payments', '*'] },
      { id: 'nightly.build', hash: OTHER_HASH, projects: [], expires: '2027-01-31' },
    ]);
  });

  it('are frozen', () => {
    const [key] = readKeys(`{ id: ci, hash: "${HASH}", projects: [] }`) ?? [];
    expect([key, key?.projects].every(Object.isFrozen)).toBe(true);
  });

  it('may contain environment variables', () => {
    const text = 'auth: { apiKeys: [{ id: ci, hash: "${H}", projects: [] }] }';
    expect(read(text, { H: HASH })).toMatchObject({ auth: { apiKeys: [{ hash: HASH }] }, secrets: [HASH] });
    const whole = { GATEHOUSE__AUTH__APIKEYS: `[{ id: a, hash: "${OTHER_HASH}", projects: ["*"] }]` };
    expect(read('{}', whole).auth.apiKeys).toHaveLength(1);
  });

  it.each(['2027-01-31', '2027-01-31T18:00Z', '2027-01-31T18:00:00.5+02:00', '2028-02-29'])(
    'may expire at %s',
    (expires) => {
      expect(readKeys(`{ id: a, hash: "${HASH}", projects: [], expires: "${expires}" }`)).toHaveLength(1);
    },
  );

  it.each([
    ['a day that does not exist', 'expires: 2027-02-30', 'expires: must be an existing date'],
    ['a month that does not exist', 'expires: 2027-13-01', 'expires: must be an existing date'],
    ['an hour that does not exist', 'expires: "2027-01-31T25:00Z"', 'expires: must be an existing date'],
    ['a time without a zone', 'expires: "2027-01-31T18:00"', 'expires: must be a date like'],
    ['an expiry in words', 'expires: tomorrow', 'expires: must be a date like'],
    ['a number as expiry', 'expires: 2027', 'expires: must be text, but is a number'],
    ['an unknown key', 'scope: x', 'scope: unknown key'],
    ['an invalid project name', 'projects: ["a b"]', 'projects: every item must be the name of a project'],
  ])('refuse %s and name its path', (_what, last, problem) => {
    const good = { id: 'id: a', hash: `hash: "${HASH}"`, projects: 'projects: []' };
    const parts = [...Object.values(good).filter((part) => !last.startsWith(part.split(':')[0]!)), last];
    const text = `auth: { apiKeys: [{ id: ok, hash: "${OTHER_HASH}", projects: [] }, { ${parts.join(', ')} }] }`;
    expect(problemsOf(text)).toEqual([expect.stringContaining(`auth.apiKeys[1].${problem}`)]);
  });

  it.each([
    ['a key instead of its hash', 'gatehouse_c2VjcmV0'],
    ['a hash without its algorithm', HASH.slice(7)],
    ['a short hash', HASH.slice(0, -1)],
    ['a hash of another algorithm', `md5:${HASH.slice(7)}`],
  ])('refuse %s without showing it', (_what, hash) => {
    const [problem, ...others] = problemsOf(`auth: { apiKeys: [{ id: a, hash: "${hash}", projects: [] }] }`);
    expect(problem).toContain('auth.apiKeys[0].hash: must be sha256: and 64 hex digits');
    expect(problem).not.toContain(hash);
    expect(others).toEqual([]);
  });

  it('report each missing key with its path', () => {
    expect(problemsOf('auth: { apiKeys: [{}, 5] }')).toEqual([
      'auth.apiKeys[1]: must be a mapping, but is a number',
      'auth.apiKeys[0].id: is required',
      'auth.apiKeys[0].hash: is required',
      'auth.apiKeys[0].projects: is required; ["*"] grants every server',
    ]);
  });

  it.each([
    ['ids', `{ id: a, hash: "${OTHER_HASH}", projects: [] }`, 'the id `a` is used twice'],
    [
      'hashes',
      `{ id: b, hash: "${HASH.toUpperCase().replace('SHA', 'sha')}", projects: [] }`,
      'the hash of `b`',
    ],
  ])('refuse two equal %s', (_what, second, problem) => {
    expect(() => readKeys(`{ id: a, hash: "${HASH}", projects: [] }`, second)).toThrow(
      `auth.apiKeys: ${problem}`,
    );
  });
});

describe('auth.jwt', () => {
  const ISSUER = 'issuer: "https://id.example.com"';
  const AUDIENCE = 'audience: "https://mcp.example.com/mcp"';

  it('requires an issuer and an audience, and has defaults for the other keys', () => {
    expect(readJwt(`${ISSUER}, ${AUDIENCE}`)).toEqual({
      issuer: 'https://id.example.com',
      audience: 'https://mcp.example.com/mcp',
      algorithms: ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519'],
      scopes: [],
      projectsClaim: 'projects',
      allowAllProjects: false,
      projects: [],
    });
    expect(problemsOf('auth: { jwt: {} }').map((problem) => problem.split(': ')[0])).toEqual([
      'auth.jwt.issuer',
      'auth.jwt.audience',
    ]);
  });

  it.each(['none', 'HS256', 'hs512', 'dir', 'rs256', ''])('refuses the algorithm %j', (algorithm) => {
    expect(() => readJwt(`${ISSUER}, ${AUDIENCE}, algorithms: [RS256, "${algorithm}"]`)).toThrow(
      'auth.jwt.algorithms: every item must be an asymmetric algorithm',
    );
  });

  it.each([
    'http://id.example.com',
    'id.example.com',
    'https://user:pass@id.example.com',
    'https://id.example.com/#a',
    'https://id.example.com/?a',
  ])('refuses the issuer %s', (issuer) => {
    expect(() => readJwt(`issuer: "${issuer}", ${AUDIENCE}`)).toThrow('auth.jwt.issuer: must be an https://');
  });

  it.each(['http://127.0.0.1:4000', 'http://localhost:4000/realm', 'http://[::1]:4000'])(
    'accepts the issuer %s on loopback',
    (issuer) => {
      expect(readJwt(`issuer: "${issuer}", ${AUDIENCE}`)?.issuer).toBe(issuer);
    },
  );

  it('accepts an audience that is not a URL only together with the URL of the gateway', () => {
    expect(() => readJwt(`${ISSUER}, audience: "api://gatehouse"`)).toThrow('auth.jwt.audience: must be');
    const jwt = readJwt(`${ISSUER}, audience: "api://gatehouse", resource: "https://mcp.example.com"`);
    expect(jwt?.resource).toBe('https://mcp.example.com');
  });

  it.each(['a b', 'a"b', ''])('refuses the scope %j', (scope) => {
    expect(() => readJwt(`${ISSUER}, ${AUDIENCE}, scopes: ['${scope}']`)).toThrow(
      'auth.jwt.scopes: every item',
    );
  });
});
