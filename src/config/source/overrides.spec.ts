import { describe, expect, it } from '@jest/globals';
import { readConfig } from '../load-config.js';

const FILE = `
http: { port: 3000 }
mcpServers:
  Files: { command: node, env: { Path_To: a } }
  my-server.v2: { command: node }
  a__b: { command: node }
`;

const read = (env: Record<string, string>, text = FILE) => readConfig({ text, source: 'g.yaml', env });

describe('GATEHOUSE__ variables', () => {
  it.each([
    ['a key of the file', { GATEHOUSE__HTTP__PORT: '0' }, { http: { port: 0 } }],
    ['a camelCase key', { GATEHOUSE__LIMITS__PAGESIZE: '7' }, { limits: { pageSize: 7 } }],
    ['a key written in lower case', { GATEHOUSE__limits__pageSize: '7' }, { limits: { pageSize: 7 } }],
    ['a key at the top', { GATEHOUSE__STATEDIR: '/var/lib/x' }, { stateDir: '/var/lib/x' }],
    ['a choice', { GATEHOUSE__NAMING__TOOLS: 'never' }, { naming: { tools: 'never' } }],
    ['a list', { GATEHOUSE__HTTP__ALLOWEDHOSTS: '[a, b]' }, { http: { allowedHosts: ['a', 'b'] } }],
    ['a whole section', { GATEHOUSE__SHUTDOWN: '{ drainMs: 5 }' }, { shutdown: { drainMs: 5 } }],
    ['text that looks like a number', { GATEHOUSE__STATEDIR: '007' }, { stateDir: '007' }],
    ['text that looks like YAML', { GATEHOUSE__STATEDIR: '[a' }, { stateDir: '[a' }],
    ['text with a reference, without interpolation', { GATEHOUSE__STATEDIR: '${X}' }, { stateDir: '${X}' }],
  ])('set %s', (_what, env, expected) => {
    expect(read(env)).toMatchObject(expected);
  });

  it.each([
    ['in any case', 'FILES', 'Files'],
    ['with underscores for characters that variable names cannot contain', 'MY_SERVER_V2', 'my-server.v2'],
    ['that contains a double underscore', 'A__B', 'a__b'],
  ])('find a server by its id, %s', (_how, segment, id) => {
    const { mcpServers } = read({ [`GATEHOUSE__MCPSERVERS__${segment}__ENABLED`]: 'false' });
    expect(mcpServers.get(id)?.enabled).toBe(false);
    expect(mcpServers.size).toBe(3);
  });

  it('add a server in lower case after the others', () => {
    const { mcpServers } = read({
      GATEHOUSE__MCPSERVERS__NEW__COMMAND: 'node',
      GATEHOUSE__MCPSERVERS__NEW__ARGS: '[a.js, "1"]',
    });
    expect([...mcpServers.keys()]).toEqual(['Files', 'my-server.v2', 'a__b', 'new']);
    expect(mcpServers.get('new')).toMatchObject({ type: 'stdio', command: 'node', args: ['a.js', '1'] });
  });

  it('set env variables of a server by their own names and replace existing ones in any case', () => {
    const { mcpServers } = read({
      GATEHOUSE__MCPSERVERS__FILES__ENV__PATH_TO: 'b',
      GATEHOUSE__MCPSERVERS__FILES__ENV__Db__Url: '5432',
    });
    expect(mcpServers.get('Files')).toMatchObject({ env: { Path_To: 'b', Db__Url: '5432' } });
  });

  it('apply a mapping before its parts, in any order of the environment', () => {
    const env = {
      GATEHOUSE__MCPSERVERS__A__ENABLED: 'false',
      GATEHOUSE__MCPSERVERS: '{ a: { url: "http://a" } }',
    };
    expect([...read(env).mcpServers]).toEqual([['a', expect.objectContaining({ enabled: false })]]);
  });

  it('change only the named server where a YAML alias shares the definition', () => {
    const text = 'mcpServers: { a: &a { command: node }, b: *a }';
    const { mcpServers } = read({ GATEHOUSE__MCPSERVERS__A__ENABLED: 'false' }, text);
    expect([...mcpServers.values()].map(({ enabled }) => enabled)).toEqual([false, true]);
  });

  it('can correct invalid values of the file', () => {
    expect(read({ GATEHOUSE__HTTP__PORT: '1' }, 'http: { port: "${UNSET}" }').http.port).toBe(1);
  });

  it('fill an empty section', () => {
    expect(read({ GATEHOUSE__HTTP__PORT: '1' }, 'http:').http.port).toBe(1);
  });

  it('require a double underscore', () => {
    const env = { GATEHOUSE_CONFIG: 'x', GATEHOUSE_HTTP__PORT: 'x', GATEHOUSE: 'x' };
    expect(read(env).http.port).toBe(3000);
  });

  it.each([
    ['GATEHOUSE__HTTP__PROT', 'unknown key in http, did you mean `port`?'],
    ['GATEHOUSE__HTPP', 'unknown key, did you mean `http`?'],
    ['GATEHOUSE__CONSTRUCTOR', 'unknown key; known are'],
    ['GATEHOUSE__MCPSERVERS__FILES__ENABLE', 'unknown key in mcpServers.Files, did you mean `enabled`?'],
    ['GATEHOUSE__HTTP__PORT__X', 'http.port has no keys of its own; set it as a whole'],
    ['GATEHOUSE__HTTP__ALLOWEDHOSTS__0', 'http.allowedHosts has no keys of its own'],
    ['GATEHOUSE__HTTP____PORT', 'a name is missing between its double underscores'],
    ['GATEHOUSE__', 'a name is missing between its double underscores'],
  ])('are refused without a matching key: %s', (variable, problem) => {
    expect(() => read({ [variable]: '1' })).toThrow(`${variable}: ${problem}`);
  });

  it('are refused when they match two servers', () => {
    const text = 'mcpServers: { a-b: { command: x }, a.b: { command: x } }';
    expect(() => read({ GATEHOUSE__MCPSERVERS__A_B__ENABLED: 'false' }, text)).toThrow(
      'GATEHOUSE__MCPSERVERS__A_B__ENABLED: `A_B` could mean a-b or a.b',
    );
  });

  it('are named in the problem of an invalid value', () => {
    expect(() => read({ GATEHOUSE__HTTP__PORT: 'high' })).toThrow(
      'http.port: must be a whole number, but is text (from GATEHOUSE__HTTP__PORT)',
    );
  });

  it('do not replace a section that is not a mapping', () => {
    expect(() => read({ GATEHOUSE__HTTP__PORT: '1' }, 'http: 5')).toThrow('http: must be a mapping');
  });
});
