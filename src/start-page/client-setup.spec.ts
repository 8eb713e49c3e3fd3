import { describe, expect, it } from '@jest/globals';
import { CLIENT_NAMES, clientSetup, type ClientTarget } from './client-setup.js';

const TARGET: ClientTarget = {
  url: 'http://127.0.0.1:3000',
  needsKey: false,
  stdioCommand: ['/bin/node', '/main.js'],
};
const ENDPOINT = 'http://127.0.0.1:3000/mcp';

describe('clientSetup', () => {
  it('is in the format of each client', () => {
    expect(CLIENT_NAMES.map((name) => clientSetup(name, TARGET).config)).toEqual([
      { mcpServers: { gatehouse: { type: 'http', url: ENDPOINT } } },
      { mcpServers: { gatehouse: { url: ENDPOINT } } },
      { servers: { gatehouse: { type: 'http', url: ENDPOINT } } },
      {
        mcpServers: {
          gatehouse: { command: '/bin/node', args: ['/main.js', 'stdio', '--url', 'http://127.0.0.1:3000'] },
        },
      },
      undefined,
    ]);
    expect(clientSetup('inspector', TARGET).command).toBe(
      `npx @modelcontextprotocol/inspector --transport http --server-url ${ENDPOINT}`,
    );
  });

  it('names the project', () => {
    const target = { ...TARGET, project: 'docs' };
    const texts = CLIENT_NAMES.map((name) => JSON.stringify(clientSetup(name, target)));
    expect(texts.filter((text) => text.includes('/projects/docs/mcp'))).toHaveLength(4);
    expect(texts[3]).toContain('"--project","docs"');
  });

  it.each([
    ['claude-code', { headers: { Authorization: 'Bearer ${GATEHOUSE_KEY}' } }],
    ['cursor', { headers: { Authorization: 'Bearer ${env:GATEHOUSE_KEY}' } }],
    ['vscode', { headers: { Authorization: 'Bearer ${input:gatehouse-key}' } }],
    ['claude-desktop', { env: { GATEHOUSE_KEY: '<client key>' } }],
  ] as const)('refers to the key for %s and does not contain it', (name, expected) => {
    const { config, note } = clientSetup(name, { ...TARGET, needsKey: true });
    const [servers] = Object.values(config!) as [Record<string, unknown>];
    expect(servers['gatehouse']).toMatchObject(expected);
    expect(note).toContain('key create');
  });
});
