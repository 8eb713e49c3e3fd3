import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { hasPrerequisite } from '../kit/prerequisite.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { tempDir } from '../kit/temp-dir.js';

const CHROMIUM = ['chromium', 'chromium-browser', 'google-chrome'].find(
  (program) => spawnSync(program, ['--version']).error === undefined,
);

/** Headless, without requests of its own. A container has no sandbox for the user root. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--enable-logging=stderr',
];

/** The document as Chromium has parsed it, and what Chromium reported, such as violations of the content security policy. */
async function openInChromium(url: string): Promise<{ document: string; log: string }> {
  const args = [...FLAGS, `--user-data-dir=${tempDir()}`, '--dump-dom', url];
  const { stdout, stderr } = await promisify(execFile)(CHROMIUM!, args, { timeout: 60_000 });
  return { document: stdout, log: stderr };
}

/** Messages of the page, without those of Chromium about the machine. */
const consoleLines = (log: string): string[] => log.split('\n').filter((line) => line.includes('CONSOLE'));

const describeInChromium = hasPrerequisite('chromium', CHROMIUM !== undefined) ? describe : describe.skip;

describeInChromium('the start page in Chromium (needs chromium)', () => {
  let gateway: Gateway;

  beforeAll(async () => {
    const server = (await ScriptedServer.start()).tool('t', () => text('done'));
    gateway = await startGateway({
      mcpServers: { files: server.http, absent: { command: '/nonexistent' } },
      projects: { docs: { servers: ['files'] } },
    });
    await gateway.listed({ tools: ['files'] });
    await gateway.logged({ server: 'absent', message: 'server is retrying' });
  });

  it.each(['/', '/mcp', '/projects/docs/mcp'])(
    'shows the servers and how to connect a client, at %s',
    async (path) => {
      const { document, log } = await openInChromium(gateway.urlOf(path));
      const endpoint = gateway.urlOf(path === '/' ? '/mcp' : path);
      expect(document).toContain(`<pre>${endpoint}</pre>`);
      // The project has only the server that is ready.
      const servers = path.startsWith('/projects/')
        ? /1 of 1 servers ready[\s\S]*files/
        : /1 of 2 servers ready[\s\S]*files[\s\S]*absent/;
      expect(document).toMatch(servers);
      expect(document.includes('absent')).toBe(!path.startsWith('/projects/'));
      for (const client of ['Claude Code', 'Cursor', 'VS Code', 'Claude Desktop', 'MCP Inspector'])
        expect(document).toContain(`<h3>${client}</h3>`);
      expect(consoleLines(log)).toEqual([]);
    },
    90_000,
  );
});
