import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { ConfigError, MissingConfigError } from './config-error.js';
import { configLoader, loadConfig, readConfig } from './load-config.js';

const directory = mkdtempSync(join(tmpdir(), 'gatehouse-config-'));
afterAll(() => rmSync(directory, { recursive: true }));

const read = (text: string, env: Record<string, string> = {}) => readConfig({ text, source: 'g.yaml', env });

function errorOf(action: () => unknown): ConfigError {
  try {
    action();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('loadConfig', () => {
  it.each([
    ['YAML', 'g.yaml', 'http:\n  port: ${PORT}\n'],
    ['JSON', 'g.json', '{ "$schema": "./gatehouse.schema.json", "http": { "port": "${PORT}" } }'],
  ])('reads a %s file', (_format, name, text) => {
    const path = join(directory, name);
    writeFileSync(path, text);
    expect(loadConfig({ path, env: { PORT: '8080' } }).http.port).toBe(8080);
  });

  it.each([
    ['does not exist', join(directory, 'none.yaml'), 'ENOENT', 'does not exist'],
    ['is a directory', directory, 'EISDIR', 'cannot be read: EISDIR'],
  ])('refuses a file that %s', (_why, path, code, message) => {
    const error = errorOf(() => loadConfig({ path, env: {} }));
    expect(error.problems).toEqual([{ path, message: expect.stringContaining(message) }]);
    expect(error.cause).toHaveProperty('code', code);
  });
});

describe('readConfig', () => {
  it.each([
    ['instructions: { include: none }', {}, 'none'],
    ['{ mcpServers: { a: { command: node } }, instructions: { include: [a] } }', {}, ['a']],
    ['{}', { GATEHOUSE__INSTRUCTIONS__INCLUDE: 'none' }, 'none'],
  ])(
    'accepts a word or a list for instructions.include: %s %j',
    (text, env: Record<string, string>, include) => {
      expect(read(text, env).instructions.include).toEqual(include);
    },
  );

  it.each(['some', '5', '{ a: b }'])('refuses instructions.include: %s', (include) => {
    const { problems } = errorOf(() => read(`instructions: { include: ${include} }`));
    expect(problems).toEqual([
      { path: 'instructions.include', message: expect.stringContaining('must be all or none or a list') },
    ]);
  });

  it('fills in every default', () => {
    const { mcpServers, projects, ...settings } = read('{}');
    expect([mcpServers.size, projects.size]).toEqual([0, 0]);
    expect(settings).toEqual({
      http: {
        host: '127.0.0.1',
        port: 3000,
        allowedHosts: [],
        allowedOrigins: [],
        trustedProxies: [],
        allowRemoteWithoutAuth: false,
        modern: true,
      },
      auth: {},
      decisions: { policy: 'overlay' },
      stateDir: '.gatehouse',
      naming: { tools: 'always', separator: '__', resources: 'resource' },
      metaTools: true,
      instructions: { maxBytes: 8192, include: 'all' },
      limits: {
        sessions: 10000,
        sessionsPerPrincipal: 2000,
        streamsPerPrincipal: 2000,
        connectionsPerPrincipal: 4000,
        callsPerPrincipal: 512,
        queuedPerPrincipal: 1000,
        processesPerPrincipal: 32,
        requestsPerPrincipal: 2000,
        parkedCalls: 100,
        parkedMs: 120_000,
        sessionIdleMs: 1800000,
        pageSize: 1000,
        requestBytes: 4194304,
        responseBytes: 16777216,
        streamQueue: 256,
        streamStuckMs: 30_000,
        replayEvents: 256,
        listens: 10_000,
        subscriptionsPerClient: 100,
        subscriptionsPerPrincipal: 10_000,
        subscriptionsPerServer: 100000,
        subscriptions: 250000,
        inFlightPerSession: 100,
        unreadBytesPerSession: 67_108_864,
        unreadBytesPerPrincipal: 268_435_456,
      },
      metrics: { public: false, aliases: true },
      readiness: { requireServers: [] },
      admin: { allowStdio: false, allowedNetworks: [] },
      startup: {},
      shutdown: { drainMs: 25000, acceptMs: 5000 },
      log: { level: 'info', format: 'auto', calls: 'off', sample: 100 },
      secrets: [],
      notes: [],
    });
  });

  it('reads a section without keys as one with defaults', () => {
    expect(read('http:\nlimits:\nmcpServers:\n').http.port).toBe(3000);
  });

  it('interpolates variables in keys of every type', () => {
    const text =
      'http: { port: "${P}", allowRemoteWithoutAuth: "${F}", allowedHosts: "${L}" }\nlog: { level: "${C}" }';
    expect(read(text, { P: '80', F: 'true', L: '[a, b]', C: 'warn' })).toMatchObject({
      http: { port: 80, allowRemoteWithoutAuth: true, allowedHosts: ['a', 'b'] },
      log: { level: 'warn' },
    });
  });

  it.each([
    ['an unknown key', 'htpp: {}', 'htpp: unknown key, did you mean `http`?'],
    ['an unknown key at depth', 'http: { prot: 1 }', 'http.prot: unknown key, did you mean `port`?'],
    ['an unknown key without a similar one', 'tenants: {}', 'tenants: unknown key; known are $schema, http,'],
    ['a property that is not a key', 'secrets: []', 'secrets: unknown key'],
    ['a key that every object has', 'http: { constructor: 1 }', 'http.constructor: unknown key'],
    ['a prototype', 'http: { __proto__: { port: 1 } }', 'http.__proto__: unknown key'],
    ['text for a number', 'http: { port: "80" }', 'http.port: must be a whole number, but is text'],
    ['a fraction', 'http: { port: 80.5 }', 'http.port: must be a whole number, but is a number'],
    ['infinity', 'limits: { sessions: .inf }', 'limits.sessions: must be a whole number'],
    ['a number out of range', 'http: { port: 65536 }', 'http.port: must be a whole number from 0 to 65535'],
    ['zero for "unlimited"', 'limits: { sessions: 0 }', 'limits.sessions: must be a whole number from 1 to'],
    ['a number for text', 'stateDir: 5', 'stateDir: must be text, but is a number; put it in quotes'],
    ['an empty value for text', 'stateDir:', 'stateDir: must be text, but is empty'],
    ['empty text', 'stateDir: ""', 'stateDir: must not be empty'],
    ['a list for a mapping', 'http: []', 'http: must be a mapping, but is a list'],
    ['a mapping for text', 'stateDir: {}', 'stateDir: must be text, but is a mapping'],
    ['binary data', 'stateDir: !!binary aGk=', 'stateDir: must be text, but is something else'],
    ['text for a flag', 'http: { allowRemoteWithoutAuth: yes }', 'must be true or false, but is text'],
    [
      'a value that is not a choice',
      'naming: { tools: sometimes }',
      'naming.tools: must be one of always, conflict, never',
    ],
    ['a number for a choice', 'log: { level: 1 }', 'log.level: must be text, but is a number'],
    ['a long separator', 'naming: { separator: _________ }', 'naming.separator: must be 1 to 8 characters'],
    ['an invalid separator', 'naming: { separator: / }', 'naming.separator: must be 1 to 8 characters'],
    ['an unset variable', 'stateDir: ${NONE}', 'stateDir: the environment variable NONE is not set'],
    ['a variable of the wrong type', 'http: { port: "${WORD}" }', 'but is text (from ${WORD})'],
  ])('refuses %s and names its path', (_what, text, problem) => {
    expect(() => read(text, { WORD: 'word' })).toThrow(problem);
  });

  it('does not change Object.prototype', () => {
    const text =
      '__proto__: { polluted: 1 }\nmcpServers: { __proto__: { polluted: 1 } }\nconstructor: { prototype: { polluted: 1 } }';
    expect(() => read(text, { GATEHOUSE__MCPSERVERS__CONSTRUCTOR__PROTOTYPE: '{ polluted: 1 }' })).toThrow(
      ConfigError,
    );
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('refuses an alias that contains itself', () => {
    expect(() => read('http: &a { port: *a }\nlimits: &b { b: *b }')).toThrow('limits.b: unknown key');
  });

  it('reports all problems at once, one per line and path', () => {
    const text = 'htpp: {}\nhttp: { port: "${NONE}", host: 0.0.0.0 }\nmcpServers: { a: { comand: x } }';
    const error = errorOf(() => read(text, { GATEHOUSE__LIMIT: '1' }));
    expect(error.problems.map(({ path }) => path).toSorted()).toEqual([
      'GATEHOUSE__LIMIT',
      'htpp',
      'http.host',
      'http.port',
      'mcpServers.a.comand',
      'mcpServers.a.command',
    ]);
    const [head, ...lines] = error.message.split('\n');
    expect(head).toBe('invalid configuration g.yaml:');
    expect(lines).toEqual(error.problems.map(({ path, message }) => `  ${path}: ${message}`));
  });

  it('does not quote values, which may be secrets', () => {
    const text = 'http: { port: "${V}", host: "${V}" }\nmcpServers: { a: { url: "${V}", type: "${V}" } }';
    expect(errorOf(() => read(text, { V: 'hunter22' })).message).not.toContain('hunter22');
  });

  it('freezes the configuration at every depth', () => {
    const config = read('mcpServers: { a: { command: node, args: [a], env: { A: b } } }');
    const server = config.mcpServers.get('a');
    for (const part of [
      config,
      config.http,
      config.http.allowedHosts,
      config.secrets,
      server,
      server?.tools,
    ]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
    expect(() => (config.mcpServers as Map<string, unknown>).set('b', {})).toThrow(TypeError);
    expect(() => (config.mcpServers as Map<string, unknown>).delete('a')).toThrow(TypeError);
    expect(() => (config.mcpServers as Map<string, unknown>).clear()).toThrow(TypeError);
  });
});

describe('configLoader', () => {
  it('reads a missing default file as empty until it exists, and then requires it', () => {
    const path = join(directory, 'late.json');
    const load = configLoader({ path, mustExist: false }, { GATEHOUSE__HTTP__PORT: '8080' });
    expect([load().http.port, load().mcpServers.size]).toEqual([8080, 0]);
    writeFileSync(path, '{ "mcpServers": { "a": { "command": "node" } } }');
    expect(load().mcpServers.size).toBe(1);
    rmSync(path);
    expect(load).toThrow(MissingConfigError);
  });

  it('requires a file that the user named', () => {
    expect(configLoader({ path: join(directory, 'none.json'), mustExist: true }, {})).toThrow(
      MissingConfigError,
    );
  });
});
