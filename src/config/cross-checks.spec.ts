import { describe, expect, it } from '@jest/globals';
import { configOf } from '../../test/kit/config.js';

const servers = { mcpServers: { files: { command: 'node' }, db: { command: 'node' } } };
const withKeys = { auth: { apiKeys: [] } };

describe('configuration cross-checks', () => {
  it.each([
    [
      'a project that names an unknown server',
      { projects: { pay: { servers: ['files', 'git'] } } },
      'projects.pay.servers[1]',
    ],
    [
      'a readiness that waits for an unknown server',
      { readiness: { requireServers: ['git'] } },
      'readiness.requireServers[0]',
    ],
    ['instructions of an unknown server', { instructions: { include: ['git'] } }, 'instructions.include[0]'],
  ])('refuse %s and name it', (_what, more, path) => {
    const escaped = path.replaceAll(/[[\].]/g, String.raw`\$&`);
    expect(() => configOf({ ...servers, ...more })).toThrow(new RegExp(`${escaped}: .*\`git\``));
  });

  it('accept projects of existing servers, of none, and of a disabled one', () => {
    const mcpServers = { ...servers.mcpServers, off: { command: 'node', enabled: false } };
    const projects = { pay: { servers: ['files', 'db'] }, empty: { servers: [] }, off: { servers: ['off'] } };
    expect([...configOf({ mcpServers, projects }).projects.keys()]).toEqual(['pay', 'empty', 'off']);
  });

  it.each(['0.0.0.0', '::', '192.168.1.7', 'gateway.example'])(
    'refuse to listen beyond loopback without authentication: %s',
    (host) => {
      expect(() => configOf({ http: { host } })).toThrow(/http\.host: /);
      expect(configOf({ http: { host }, ...withKeys }).http.host).toBe(host);
      expect(configOf({ http: { host, allowRemoteWithoutAuth: true } }).http.host).toBe(host);
    },
  );

  it.each(['127.0.0.1', '::1', 'localhost', '127.8.8.8'])('accept loopback without auth: %s', (host) => {
    expect(configOf({ http: { host } }).http.host).toBe(host);
  });
});
