import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../config-error.js';
import { readConfig } from '../load-config.js';

const readServerOf = (definition: object, env: Record<string, string> = {}) =>
  readConfig({
    text: JSON.stringify({ mcpServers: { a: definition } }),
    source: 'g.json',
    env,
  }).mcpServers.get('a')!;

const notesOf = (definition: object, env: Record<string, string> = {}): readonly string[] =>
  readConfig({ text: JSON.stringify({ mcpServers: { a: definition } }), source: 'g.json', env }).notes;

function problemsOf(content: object): Record<string, string> {
  try {
    readConfig({ text: JSON.stringify(content), source: 'g.json', env: {} });
  } catch (error) {
    if (error instanceof ConfigError)
      return Object.fromEntries(error.problems.map(({ path, message }) => [path, message]));
    throw error;
  }
  return {};
}

describe('keys of other MCP clients', () => {
  it.each<[string, object, object]>([
    ['Cline', { command: 'x', disabled: true, timeout: 60 }, { enabled: false, timeoutMs: 60_000 }],
    ['Cline', { url: 'https://x/mcp', transportType: 'sse' }, { type: 'sse', url: 'https://x/mcp' }],
    ['Cline', { url: 'https://x/mcp', type: 'streamableHttp' }, { type: 'http' }],
    [
      'Roo Code',
      { command: 'x', disabledTools: ['rm'], timeout: 3600 },
      { tools: { disabled: ['rm'] }, timeoutMs: 3_600_000 },
    ],
    ['Windsurf', { serverUrl: 'https://x/mcp', disabled: false }, { url: 'https://x/mcp', enabled: true }],
    [
      'Gemini CLI',
      { httpUrl: 'https://x/mcp', timeout: 30_000 },
      { type: 'http', url: 'https://x/mcp', timeoutMs: 30_000 },
    ],
    ['Gemini CLI', { command: 'x', excludeTools: ['rm'] }, { tools: { disabled: ['rm'] } }],
    ['Cursor', { type: 'stdio', command: 'x', env: { A: 'b' } }, { command: 'x', env: { A: 'b' } }],
  ])('of %s are translated: %j', (_client, given, expected) => {
    expect(readServerOf(given)).toMatchObject(expected);
  });

  it('take servers of VS Code', () => {
    const text = '{ "servers": { "a": { "type": "http", "url": "https://x/mcp" } } }';
    expect([...readConfig({ text, source: 'mcp.json', env: {} }).mcpServers.keys()]).toEqual(['a']);
  });

  it('unite lists of disabled tools', () => {
    const given = {
      command: 'x',
      tools: { disabled: ['a', 'b'] },
      disabledTools: ['b', 'c'],
      excludeTools: ['d'],
    };
    expect(readServerOf(given).tools.disabled).toEqual(['a', 'b', 'c', 'd']);
  });

  it('of one server do not change another one that shares its section by a YAML alias', () => {
    const text = [
      'mcpServers:',
      '  a: { command: x, tools: &tools { disabled: [one] }, disabledTools: [two] }',
      '  b: { command: x, tools: *tools }',
    ].join('\n');
    const { mcpServers } = readConfig({ text, source: 'g.yaml', env: {} });
    expect([...mcpServers.values()].map(({ tools }) => tools.disabled)).toEqual([['one', 'two'], ['one']]);
  });

  it('keep a variable in a translated value secret', () => {
    const text = '{ "mcpServers": { "a": { "serverUrl": "https://x/?key=${KEY}" } } }';
    const config = readConfig({ text, source: 'g.json', env: { KEY: 'a-secret-key' } });
    expect(config.mcpServers.get('a')).toMatchObject({ url: 'https://x/?key=a-secret-key' });
    expect(config.secrets).toContain('a-secret-key');
  });

  it('are refused where they contradict a key of the gateway', () => {
    const a = { command: 'x', enabled: true, disabled: true };
    const b = { url: 'https://x/mcp', serverUrl: 'https://y/mcp' };
    expect(problemsOf({ mcpServers: { a, b } })).toEqual({
      'mcpServers.a.disabled': 'contradicts `enabled`; keep one of them',
      'mcpServers.b.serverUrl': 'contradicts `url`; keep one of them',
    });
  });

  it('name the given key in a problem of the translated value', () => {
    expect(problemsOf({ mcpServers: { a: { command: 'x', timeout: 0 } } })).toEqual({
      'mcpServers.a.timeoutMs': expect.stringMatching(/^must be a whole number.* \(from `timeout`\)$/),
    });
  });

  describe('with notes for operators', () => {
    it.each([
      [
        3600,
        ['mcpServers.a.timeout is read as 3600 s (timeoutMs: 3600000); above 3600 it counts milliseconds'],
      ],
      [0.5, ['mcpServers.a.timeout is read as 0.5 s (timeoutMs: 500); above 3600 it counts milliseconds']],
      [3601, []],
    ])('name a timeout that is read in seconds: %d', (timeout, notes) => {
      expect(notesOf({ command: 'x', timeout })).toEqual(notes);
    });

    it('read $NAME of Gemini CLI as a variable, and keep its value secret', () => {
      const definition = {
        httpUrl: 'https://$HOST/mcp',
        headers: { Authorization: 'Bearer $TOKEN', B: '${B}', C: '$${D} 5$ $' },
      };
      const text = JSON.stringify({ mcpServers: { a: definition } });
      const env = { HOST: 'h', TOKEN: 'a-secret-token', B: 'b-value' };
      const config = readConfig({ text, source: 'g.json', env });
      expect(config.mcpServers.get('a')).toMatchObject({
        url: 'https://h/mcp',
        headers: { Authorization: 'Bearer a-secret-token', B: 'b-value', C: '${D} 5$ $' },
      });
      expect(config.secrets).toContain('a-secret-token');
      expect(config.notes).toEqual([
        'mcpServers.a.headers `$NAME` of Gemini CLI is read as `${NAME}`',
        'mcpServers.a.httpUrl `$NAME` of Gemini CLI is read as `${NAME}`',
      ]);
    });

    it('refuse a variable of Gemini CLI that is not set', () => {
      const a = { command: 'x', excludeTools: [], env: { A: '$NONE' } };
      expect(problemsOf({ mcpServers: { a } })).toEqual({
        'mcpServers.a.env.A': 'the environment variable NONE is not set',
      });
    });

    it('name $NAME in other definitions, which stays plain text, without its value', () => {
      const definition = { command: 'sh', args: ['-c', 'echo $HOME'], env: { A: 'x $TOKEN', B: 'pa$word$' } };
      expect(readServerOf(definition)).toMatchObject(definition);
      const notes = notesOf(definition);
      expect(notes).toEqual([expect.stringMatching(/^mcpServers\.a\.env contains `\$NAME`.*plain text/)]);
      expect(notes.join()).not.toContain('TOKEN');
    });
  });

  it.each([
    ['autoApprove', 'Cline'],
    ['alwaysAllow', 'Roo Code'],
    ['includeTools', 'Gemini CLI'],
    ['envFile', 'Cursor and VS Code'],
  ])('without a translation are refused by name with gatehouse config import: %s', (key, client) => {
    const problems = problemsOf({ mcpServers: { a: { command: 'x', [key]: [] } } });
    expect(problems).toEqual({
      [`mcpServers.a.${key}`]: `is a key of ${client} that the gateway does not have; remove it, or convert the file with \`gatehouse config import\``,
    });
  });

  it('at the top of the file are refused by name with gatehouse config import', () => {
    const problems = problemsOf({ servers: {}, mcpServers: {}, inputs: [] });
    expect(Object.keys(problems)).toEqual(['servers', 'inputs']);
    expect(problems['inputs']).toContain('gatehouse config import');
  });
});
