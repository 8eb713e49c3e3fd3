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
  // what VS Code asks for
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

describe('importing servers', () => {
  it('of Claude Desktop keeps their definitions and makes ids of their names', () => {
    const { config, notes, problems } = importServers(CLAUDE_DESKTOP, 'claude_desktop_config.json');
    expect(config.mcpServers).toEqual({
      filesystem: {
        command: 'npx',
        args: ['-y', '@modelcontextprotocol/server-filesystem', '/Users/me/Desktop'],
      },
      'My-Server': { command: 'node', args: ['s.js'], env: { PORT: '8080', DEBUG: 'true' } },
    });
    expect(notes).toEqual(['My Server!: is called My-Server here, because tools are named after it']);
    expect(problems).toEqual([]);
  });

  it('of Cursor turns its variables into ours, and says what it leaves out', () => {
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

  it('of VS Code reads comments and final commas, and makes variables of what it asks for', () => {
    const { config, notes, problems } = importServers(VS_CODE, '.vscode/mcp.json');
    expect(config.mcpServers).toEqual({
      github: {
        url: 'https://api.githubcopilot.com/mcp/',
        headers: { Authorization: 'Bearer ${GITHUB_TOKEN}' },
      },
      old: { type: 'sse', url: 'http://127.0.0.1:9/sse' },
    });
    expect(notes).toEqual(['set the environment variable GITHUB_TOKEN (GitHub token): VS Code asks for it']);
    expect(problems).toEqual([]);
  });

  it.each([
    [CLAUDE_DESKTOP, {}],
    [CURSOR, { API_TOKEN: 'x', HOME: '/h' }],
    [VS_CODE, { GITHUB_TOKEN: 'x' }],
  ])('prints what the gateway starts with', (text, env) => {
    const yaml = asYaml(importServers(text, 'a.json').config);
    expect(readConfig({ text: yaml, file: 'ours.yaml', env }).mcpServers.size).toBe(2);
  });

  it('reads the settings of VS Code as well', () => {
    const settings = '{ "mcp": { "servers": { "a": { "command": "x" } } } }';
    expect(importServers(settings, 'settings.json').config.mcpServers).toEqual({ a: { command: 'x' } });
  });

  it('names what we do not accept as it stands', () => {
    const { problems } = importServers('{"mcpServers":{"a":{"url":"ws://x"},"b":{}}}', 'a.json');
    expect(problems.join('\n')).toMatch(/mcpServers\.a\.url: [\s\S]*mcpServers\.b\.command: /);
  });

  it('gives two servers with one name two ids', () => {
    const { config } = importServers(
      '{"mcpServers":{"a b":{"command":"x"},"a_b":{"command":"y"},"a-b":{"command":"z"}}}',
      'a',
    );
    expect(Object.keys(config.mcpServers)).toEqual(['a-b', 'a_b', 'a-b-2']);
  });

  it.each([['{}'], ['[]'], ['{ "a": '], ['{"mcpServers": []}']])('refuses %s', (text) => {
    expect(() => importServers(text, 'file.json')).toThrow(RangeError);
    expect(() => importServers(text, 'file.json')).toThrow('file.json');
  });
});
