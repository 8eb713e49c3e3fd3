import { describe, expect, it } from '@jest/globals';
import { readConfig } from './load-config.js';

const read = (servers: string) =>
  readConfig({ text: `mcpServers:\n  ${servers}`, source: 'g.yaml', env: {} }).mcpServers;

describe('mcpServers', () => {
  it('are kept in the order of the file', () => {
    const servers = ['zoo', '10', '9', 'Ab', 'a.b', 'a_b-c'];
    const text = servers.map((id) => `${id}: { command: node }`).join('\n  ');
    expect([...read(text).keys()]).toEqual(servers);
  });

  it.each([
    ['a program', 'a: { command: node }', { type: 'stdio', command: 'node', args: [], env: {} }],
    ['a program with an explicit type', 'a: { type: stdio, command: node }', { type: 'stdio' }],
    ['Streamable HTTP', 'a: { url: "https://x/mcp" }', { type: 'http', url: 'https://x/mcp', headers: {} }],
    ['Streamable HTTP with an explicit type', 'a: { type: http, url: "http://x" }', { type: 'http' }],
    [
      'Streamable HTTP with the type streamable-http',
      'a: { type: streamable-http, url: "http://x" }',
      { type: 'http' },
    ],
    [
      'Streamable HTTP with the type of Cline',
      'a: { type: streamableHttp, url: "http://x" }',
      { type: 'http' },
    ],
    ['HTTP+SSE', 'a: { type: sse, url: "http://x" }', { type: 'sse' }],
  ])('may be %s', (_what, text, expected) => {
    expect(read(text).get('a')).toMatchObject(expected);
  });

  it('have defaults for the common keys', () => {
    expect(read('a: { command: node }').get('a')).toMatchObject({
      enabled: true,
      concurrency: 16,
      queue: 1000,
      era: 'auto',
      subscribe: 'announced',
      refreshMs: 60000,
      timeoutMs: 60000,
      connectTimeoutMs: 60000,
      tools: { disabled: [], exclusive: [] },
      isolation: 'shared',
      watch: { coalesceMs: 0 },
      naming: {},
    });
  });

  it('accept every key', () => {
    const common =
      'enabled: false, concurrency: 1, queue: 0, timeoutMs: 1, connectTimeoutMs: 100, isolation: session, era: 2025, subscribe: try, refreshMs: 1000';
    const sections =
      'tools: { disabled: [x], exclusive: [y] }, watch: { pollMs: 100, coalesceMs: 5 }, naming: { tools: never }';
    expect(
      read(`a: { command: c, args: ["", b], env: { A: "" }, cwd: d, ${common}, ${sections} }`).get('a'),
    ).toEqual({
      type: 'stdio',
      command: 'c',
      args: ['', 'b'],
      env: { A: '' },
      cwd: 'd',
      enabled: false,
      concurrency: 1,
      queue: 0,
      timeoutMs: 1,
      connectTimeoutMs: 100,
      era: '2025',
      subscribe: 'try',
      refreshMs: 1000,
      isolation: 'session',
      tools: { disabled: ['x'], exclusive: ['y'] },
      watch: { pollMs: 100, coalesceMs: 5 },
      naming: { tools: 'never' },
    });
  });

  it.each([
    ['both command and url', '{ command: x, url: "http://x" }', 'a.url: cannot be combined with `command`'],
    ['headers for a program', '{ command: x, headers: {} }', 'a.headers: cannot be combined with `command`'],
    ['arguments for a url', '{ url: "http://x", args: [] }', 'a.args: cannot be combined with `url`'],
    ['neither command nor url', '{}', 'a.command: is required, or `url` for a server'],
    ['an empty definition', '', 'a.command: is required'],
    ['a remote type without url', '{ type: sse }', 'a.url: is required'],
    ['a mistyped command', '{ comand: x }', 'a.comand: unknown key, did you mean `command`?'],
    ['a mistyped url', '{ ulr: x }', 'a.ulr: unknown key, did you mean `url`?'],
    ['the type http with a command', '{ type: http, command: x }', 'a.type: must be stdio here'],
    ['the type stdio with a url', '{ type: stdio, url: "http://x" }', 'a.type: must be one of http, sse'],
    ['another era', '{ command: x, era: 2024 }', 'a.era: must be text, but is a number'],
    ['another subscribe mode', '{ command: x, subscribe: always }', 'a.subscribe: must be one of announced'],
    ['another protocol', '{ url: "ftp://x" }', 'a.url: must start with http:// or https://'],
    ['an incomplete URL', '{ url: "http://" }', 'a.url: must be a complete URL'],
    [
      'a password in the address',
      '{ url: "http://u:p@x" }',
      'a.url: must be a complete URL without user name and password',
    ],
    ['a number as argument', '{ command: x, args: [a, 1] }', 'a.args[1]: must be text, but is a number'],
    ['a flag as variable', '{ command: x, env: { DEBUG: true } }', 'a.env.DEBUG: must be text'],
    [
      'an invalid name of an environment variable',
      '{ command: x, env: { "A=B": c } }',
      'a.env["A=B"]: must be the name of',
    ],
    [
      'a reserved variable',
      '{ command: x, env: { __proto__: c } }',
      'a.env.__proto__: this name is reserved',
    ],
    [
      'an invalid header name',
      '{ url: "http://x", headers: { "a b": c } }',
      'a.headers["a b"]: must be the name',
    ],
    [
      'a header value of two lines',
      '{ url: "http://x", headers: { A: "b\\n" } }',
      'a.headers: the value of `A` must be one',
    ],
    [
      'no concurrency',
      '{ command: x, concurrency: 0 }',
      'a.concurrency: must be a whole number from 1 to 1000',
    ],
    ['an endless timeout', '{ command: x, timeoutMs: 0 }', 'a.timeoutMs: must be a whole number from 1 to'],
    [
      'a mistyped key of its tools',
      '{ command: x, tools: { disable: [] } }',
      'a.tools.disable: unknown key, did',
    ],
    [
      'an unknown naming style',
      '{ command: x, naming: { tools: no } }',
      'a.naming.tools: must be one of always,',
    ],
    [
      'an unknown isolation',
      '{ command: x, isolation: none }',
      'a.isolation: must be one of shared, exclusive',
    ],
  ])('cannot have %s', (_what, server, problem) => {
    expect(() => read(`a: ${server}`)).toThrow(`mcpServers.${problem}`);
  });

  it.each(['a b', '-a', '_a', 'ä', '""', 'a/b', 'a'.repeat(65)])('cannot have the id %s', (id) => {
    expect(() => read(`${id}: { command: node }`)).toThrow('must be a server id: 1 to 64 characters');
  });

  it.each(['__proto__', 'constructor', 'prototype'])('cannot have the reserved id %s', (id) => {
    expect(() => read(`${id}: { command: node }`)).toThrow(`mcpServers.${id}: this name is reserved`);
  });
});
