import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { tempDir } from '../../test/kit/temp-dir.js';
import { findLocalGateway } from './local-gateway.js';
import { normalizeGatewayUrl, resolveGatewayTarget } from './gateway-target.js';

const local = { url: 'http://127.0.0.1:4000', token: 'token-found-here' };
const findLocal = () => Promise.resolve(local);
const broken = () => Promise.reject(new Error('broken'));

const fileWith = (config: string): string => {
  const file = join(tempDir(), 'gatehouse.yaml');
  writeFileSync(file, config);
  return file;
};

describe('resolveGatewayTarget', () => {
  it('uses the local configuration by default', async () => {
    expect(await resolveGatewayTarget({}, {}, findLocal)).toEqual(local);
  });

  it('prefers options to environment variables', async () => {
    const env = {
      GATEHOUSE_URL: 'http://env:1',
      GATEHOUSE_ADMIN_TOKEN: 'of-env',
      GATEHOUSE_KEY: 'key-of-env',
    };
    expect(await resolveGatewayTarget({}, env, findLocal)).toEqual({
      url: 'http://env:1',
      token: 'of-env',
      key: 'key-of-env',
    });
    const options = { url: 'http://option:2', token: 'of-option', key: 'key-of-option' };
    expect(await resolveGatewayTarget(options, env, findLocal)).toEqual({
      url: 'http://option:2',
      token: 'of-option',
      key: 'key-of-option',
    });
  });

  it('sends a local token only to this machine', async () => {
    expect(await resolveGatewayTarget({ url: 'http://localhost:5000' }, {}, findLocal)).toMatchObject({
      token: local.token,
    });
    expect(await resolveGatewayTarget({ url: 'http://[::1]:5000' }, {}, findLocal)).toMatchObject({
      token: local.token,
    });
    expect(await resolveGatewayTarget({ url: 'https://mcp.example.com' }, {}, findLocal)).toEqual({
      url: 'https://mcp.example.com',
    });
  });

  it('needs the URL of a gateway on any free port, and uses its local token', async () => {
    const ofAnyPort = () => Promise.resolve({ token: local.token });
    await expect(resolveGatewayTarget({}, {}, ofAnyPort)).rejects.toThrow('--url');
    expect(await resolveGatewayTarget({ url: local.url }, {}, ofAnyPort)).toEqual(local);
  });

  it('needs no readable configuration with a URL', async () => {
    expect(await resolveGatewayTarget({ url: 'http://localhost:1' }, {}, broken)).toEqual({
      url: 'http://localhost:1',
    });
    await expect(resolveGatewayTarget({}, {}, broken)).rejects.toThrow('broken');
  });
});

describe('normalizeGatewayUrl', () => {
  it.each([
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['http://127.0.0.1:3000/', 'http://127.0.0.1:3000'],
    ['http://127.0.0.1:3000/mcp', 'http://127.0.0.1:3000'],
    ['https://example.com/gate/admin/v1/', 'https://example.com/gate'],
    ['localhost:3000', 'http://localhost:3000'],
  ])('converts %s to %s', (written, base) => {
    expect(normalizeGatewayUrl(written)).toBe(base);
  });

  it.each(['http://', 'ftp://example.com', 'a b'])('refuses %j', (written) => {
    expect(() => normalizeGatewayUrl(written)).toThrow(RangeError);
  });
});

describe('findLocalGateway', () => {
  it('reads only the keys it needs, although other keys use undefined variables', () => {
    const stateDir = tempDir();
    writeFileSync(join(stateDir, 'admin-token'), 'generated-token-1\n');
    const file = fileWith(
      `http: { host: 0.0.0.0, port: "\${PORT:-3456}" }\nstateDir: ${stateDir}\nadmin: { token: "\${UNSET_TOKEN}" }\n` +
        'mcpServers: { a: { url: "${UNSET_URL}", unknownKey: 1 } }\n',
    );
    expect(findLocalGateway({ path: file, mustExist: true }, {})).toEqual({
      url: 'http://127.0.0.1:3456',
      token: 'generated-token-1',
    });
  });

  it('applies overrides from the environment', () => {
    const env = {
      GATEHOUSE__HTTP__PORT: '4567',
      GATEHOUSE__ADMIN__TOKEN: 'token-of-the-environment',
      GATEHOUSE__MCPSERVERS__A__UNKNOWN: '1',
    };
    expect(findLocalGateway({ path: fileWith('{}'), mustExist: true }, env)).toEqual({
      url: 'http://127.0.0.1:4567',
      token: 'token-of-the-environment',
    });
  });

  it('returns no token when none is readable', () => {
    const stateDir = tempDir();
    mkdirSync(join(stateDir, 'admin-token'));
    expect(findLocalGateway({ path: fileWith(`stateDir: ${stateDir}`), mustExist: true }, {})).toEqual({
      url: 'http://127.0.0.1:3000',
    });
  });

  it('needs no file unless a path is given', () => {
    const file = join(tempDir(), 'absent.yaml');
    expect(findLocalGateway({ path: file, mustExist: false }, { GATEHOUSE__STATEDIR: tempDir() })).toEqual({
      url: 'http://127.0.0.1:3000',
    });
    expect(() => findLocalGateway({ path: file, mustExist: true }, {})).toThrow('absent.yaml');
  });

  it.each([
    ['a syntax error', 'http: { port: 4001 }\nadmin: { token: token-of-the-file }\nlimits: { pageSize: [\n'],
    ['an invalid key', 'stateDir: [a]\nhttp: { port: 4001 }\nadmin: { token: token-of-the-file }\n'],
  ])('reads what it can of a file with %s, and notes it', (_what, content) => {
    const path = fileWith(content);
    const notes: string[] = [];
    const found = findLocalGateway({ path, mustExist: true }, {}, (note) => notes.push(note));
    expect(found.token).toBe('token-of-the-file');
    expect(new URL(found.url!).port).toBe('4001');
    expect(notes).toEqual([expect.stringContaining(`${path} is invalid`)]);
  });

  it('uses the defaults for a file that is not a configuration', () => {
    const path = fileWith('- a\n- b');
    expect(findLocalGateway({ path, mustExist: true }, { GATEHOUSE__STATEDIR: tempDir() })).toEqual({
      url: 'http://127.0.0.1:3000',
    });
  });

  it('finds the token and no URL with port 0', () => {
    const path = fileWith('http: { port: 0 }\nadmin: { token: token-of-the-file }');
    expect(findLocalGateway({ path, mustExist: true }, {})).toEqual({ token: 'token-of-the-file' });
  });
});
