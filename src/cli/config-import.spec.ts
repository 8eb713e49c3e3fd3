import { describe, expect, it } from '@jest/globals';
import { readConfig } from '../config/load-config.js';
import { importServers } from './config-import.js';
import { asYaml } from './config-print.js';

const CLAUDE_DESKTOP = `{
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/Users/me/Desktop"]
    },
    "My Server!": { "command": "node", "args": ["s.js"], "env": { "PORT": 8080, "DEBUG": true } }
  },
  "globalShortcut": "Ctrl+Space"
}`;

const CURSOR = `{
  "mcpServers": {
    "api": {
      "url": "https://api.example.com/mcp",
      "headers": { "Authorization": "Bearer \${env:API_TOKEN}" }
    },
    "local": {
      "type": "stdio",
      "command": "\${userHome}/bin/server",
      "args": ["--root", "\${workspaceFolder}\${/}src", "--as", "\${workspaceFolderBasename}"],
      "envFile": ".env",
      "disabled": true
    }
  }
}`;

const VS_CODE = `{
  // inputs of VS Code
  "inputs": [{ "type": "promptString", "id": "github-token", "description": "GitHub token", "password": true }],
  "servers": {
    "github": {
      "type": "http",
      "url": "https://api.githubcopilot.com/mcp/", /* not a // comment: https:// */
      "headers": { "Authorization": "Bearer \${input:github-token}" },
    },
    "old": { "type": "sse", "url": "http://127.0.0.1:9/sse" },
  },
}`;

describe('importServers', () => {
  it('keeps the definitions of Claude Desktop and makes ids of their names', () => {
    const { config, notes, problems } = importServers(CLAUDE_DESKTOP, 'claude_desktop_config.json');
    expect(config.mcpServers).toEqual({
      filesystem: {
        command: 'npx',
        args: ['-y', '@modelcontextprotocol/server-filesystem', '/Users/me/Desktop'],
      },
      'My-Server': { command: 'node', args: ['s.js'], env: { PORT: '8080', DEBUG: 'true' } },
    });
    expect(notes).toEqual(['My Server!: renamed to My-Server, a valid and unique server id']);
    expect(problems).toEqual([]);
  });

  it('translates the variables of Cursor and notes what it leaves out', () => {
    const { config, notes, problems } = importServers(CURSOR, 'mcp.json');
    expect(config.mcpServers).toEqual({
      api: { url: 'https://api.example.com/mcp', headers: { Authorization: 'Bearer ${API_TOKEN}' } },
      local: {
        command: '${HOME}/bin/server',
        args: ['--root', './src', '--as', '$${workspaceFolderBasename}'],
        enabled: false,
      },
    });
    expect(notes.join('\n')).toMatch(
      /local\.envFile: left out[\s\S]*workspaceFolder[\s\S]*workspaceFolderBasename/,
    );
    expect(problems).toEqual([]);
  });

  it('accepts comments and trailing commas of VS Code and turns its inputs into variables', () => {
    const { config, notes, problems } = importServers(VS_CODE, '.vscode/mcp.json');
    expect(config.mcpServers).toEqual({
      github: {
        url: 'https://api.githubcopilot.com/mcp/',
        headers: { Authorization: 'Bearer ${GITHUB_TOKEN}' },
      },
      old: { type: 'sse', url: 'http://127.0.0.1:9/sse' },
    });
    expect(notes).toEqual(['set the environment variable GITHUB_TOKEN (GitHub token), an input of VS Code']);
    expect(problems).toEqual([]);
  });

  it.each([
    [CLAUDE_DESKTOP, {}],
    [CURSOR, { API_TOKEN: 'x', HOME: '/h' }],
    [VS_CODE, { GITHUB_TOKEN: 'x' }],
  ])('gives a configuration that the gateway accepts', (text, env) => {
    const yaml = asYaml(importServers(text, 'a.json').config);
    expect(readConfig({ text: yaml, source: 'imported.yaml', env }).mcpServers.size).toBe(2);
  });

  it.each([
    ['by a key', 'settings.json', { httpUrl: 'https://x/mcp?k=$KEY', trust: true }],
    ['by its path', '/home/u/.gemini/settings.json', { url: 'https://x/mcp?k=$KEY' }],
  ])('translates the variables of a file of Gemini CLI that is known %s', (_how, file, server) => {
    const text = JSON.stringify({ mcpServers: { a: server, b: { command: 'x', args: ['$A', '${B}'] } } });
    expect(importServers(text, file).config.mcpServers).toEqual({
      a: { url: 'https://x/mcp?k=${KEY}' },
      b: { command: 'x', args: ['${A}', '${B}'] },
    });
  });

  it('names $NAME in other files and keeps it as plain text, and names a timeout in seconds', () => {
    const text = JSON.stringify({ mcpServers: { a: { command: 'x', env: { A: '$TOKEN' }, timeout: 60 } } });
    const { config, notes } = importServers(text, 'mcp.json');
    expect(config.mcpServers).toEqual({ a: { command: 'x', env: { A: '$TOKEN' }, timeoutMs: 60_000 } });
    expect(notes).toEqual([
      'a.timeout is read as 60 s (timeoutMs: 60000); above 3600 it counts milliseconds',
      expect.stringMatching(/^a\.env\.A contains `\$NAME`.*plain text here/),
    ]);
  });

  it('reads the servers in the settings of VS Code', () => {
    const settings = '{ "mcp": { "servers": { "a": { "command": "x" } } } }';
    expect(importServers(settings, 'settings.json').config.mcpServers).toEqual({ a: { command: 'x' } });
  });

  it('reports definitions that the gateway would refuse', () => {
    const { problems } = importServers('{"mcpServers":{"a":{"url":"ws://x"},"b":{}}}', 'a.json');
    expect(problems.join('\n')).toMatch(/mcpServers\.a\.url: [\s\S]*mcpServers\.b\.command: /);
  });

  it('gives servers different ids if their names convert to the same id', () => {
    const { config } = importServers(
      '{"mcpServers":{"a b":{"command":"x"},"a_b":{"command":"y"},"a-b":{"command":"z"}}}',
      'a',
    );
    expect(Object.keys(config.mcpServers)).toEqual(['a-b', 'a_b', 'a-b-2']);
  });

  it.each([['{}'], ['[]'], ['{ "a": '], ['{"mcpServers": []}']])(
    'throws a RangeError with the file name for %s',
    (text) => {
      expect(() => importServers(text, 'file.json')).toThrow(RangeError);
      expect(() => importServers(text, 'file.json')).toThrow('file.json');
    },
  );

  it.each<[string, object, object]>([
    ['disabled of Cline', { disabled: true, timeout: 30 }, { enabled: false, timeoutMs: 30_000 }],
    ['enabled: false beside disabled: false', { enabled: false, disabled: false }, { enabled: false }],
    ['disabledTools of Roo Code', { disabledTools: ['rm'] }, { tools: { disabled: ['rm'] } }],
    [
      'tools.disabled beside excludeTools of Gemini CLI',
      { tools: { disabled: ['a'] }, excludeTools: ['b'] },
      { tools: { disabled: ['a', 'b'] } },
    ],
    ['includeTools of Gemini CLI', { includeTools: ['read'] }, { enabled: false }],
    ['a value that is not a boolean', { disabled: 'yes' }, { enabled: false }],
    ['a value that is not a list', { disabledTools: 'rm' }, { enabled: false }],
  ])('keeps off what %s switches off', (_what, keys, expected) => {
    const text = JSON.stringify({ mcpServers: { s: { command: 'x', ...keys } } });
    expect(importServers(text, 'f').config.mcpServers['s']).toEqual({ command: 'x', ...expected });
  });

  it('keeps off the servers that Gemini CLI excludes or does not allow', () => {
    const server = { httpUrl: 'https://x/mcp' };
    const mcpServers = { a: server, b: server, c: server };
    const text = JSON.stringify({ mcp: { allowed: ['a', 'b'], excluded: ['b'] }, mcpServers });
    expect(importServers(text, 'f').config.mcpServers).toEqual({
      a: { url: 'https://x/mcp' },
      b: { url: 'https://x/mcp', enabled: false },
      c: { url: 'https://x/mcp', enabled: false },
    });
  });

  it('names the keys that it leaves out', () => {
    const s = { command: 'x', autoApprove: ['a'], trust: true, includeTools: ['a'] };
    const { notes, problems } = importServers(JSON.stringify({ mcpServers: { s } }), 'f');
    expect(notes).toEqual([
      's.autoApprove: left out, no such setting',
      's.trust: left out, no such setting',
      expect.stringMatching(/^s\.includeTools: left out, and s is disabled/),
    ]);
    expect(problems).toEqual([]);
  });
});
