import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { launch } from '../kit/command-line.js';
import { launchGateway, type Gateway } from '../kit/gateway.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { tempDir } from '../kit/temp-dir.js';
import { within } from '../kit/until.js';

type Definition = Record<string, unknown>;
type Servers = Record<'on' | 'off', Definition>;
interface ClientFile {
  readonly mcpServers?: Servers;
  readonly servers?: Servers;
  readonly [key: string]: unknown;
}

interface ClientCase {
  /** A file with what the client can say about two servers: `on`, over HTTP, and `off`, over stdio, which is switched off. */
  readonly file: (on: { readonly url: string }, off: Definition) => ClientFile;
  /** The paths of what the gateway does not take as it is. */
  readonly refused: readonly string[];
  /** The first words of what the import leaves out or changes. */
  readonly noted: readonly string[];
  readonly timeoutMs?: number;
  readonly disabledTools?: readonly string[];
}

const TOKEN = 'token-of-the-client';

const CLIENTS: Readonly<Record<string, ClientCase>> = {
  Cline: {
    file: (on, off) => ({
      mcpServers: {
        on: { ...on, type: 'streamableHttp', disabled: false, timeout: 30, autoApprove: ['keep'] },
        off: { ...off, disabled: true },
      },
    }),
    refused: ['mcpServers.on.autoApprove'],
    noted: ['on.timeout is read as 30 s', 'on.autoApprove: left out'],
    timeoutMs: 30_000,
  },
  'Roo Code': {
    file: (on, off) => ({
      mcpServers: {
        on: { ...on, type: 'streamable-http', disabledTools: ['drop'], alwaysAllow: ['keep'] },
        off: { ...off, disabled: true, watchPaths: ['/x'] },
      },
    }),
    refused: ['mcpServers.on.alwaysAllow', 'mcpServers.off.watchPaths'],
    noted: ['on.alwaysAllow: left out', 'off.watchPaths: left out'],
    disabledTools: ['drop'],
  },
  Windsurf: {
    file: ({ url }, off) => ({
      mcpServers: {
        on: { serverUrl: url, headers: { 'x-key': '${env:CLIENT_TOKEN}' }, disabledTools: ['drop'] },
        off: { ...off, disabled: true },
      },
    }),
    refused: ['mcpServers.on.headers.x-key'],
    noted: [],
    disabledTools: ['drop'],
  },
  'Gemini CLI': {
    file: ({ url }, off) => ({
      mcp: { excluded: ['off'] },
      mcpServers: {
        on: {
          httpUrl: url,
          headers: { 'x-key': '$CLIENT_TOKEN' },
          timeout: 20_000,
          excludeTools: ['drop'],
          trust: true,
        },
        off,
      },
    }),
    refused: ['mcp', 'mcpServers.on.trust'],
    noted: ['on.trust: left out'],
    timeoutMs: 20_000,
    disabledTools: ['drop'],
  },
  Cursor: {
    file: (on, off) => ({
      mcpServers: {
        on: { ...on, headers: { 'x-key': '${env:CLIENT_TOKEN}' } },
        off: { type: 'stdio', ...off, envFile: '.env', disabled: true },
      },
    }),
    refused: ['mcpServers.off.envFile', 'mcpServers.on.headers.x-key'],
    noted: ['off.envFile: left out'],
  },
  'VS Code': {
    file: (on, off) => ({
      inputs: [{ type: 'promptString', id: 'client-token', description: 'Token', password: true }],
      servers: {
        on: { type: 'http', ...on, headers: { 'x-key': '${input:client-token}' } },
        off: { type: 'stdio', ...off, dev: { watch: 'src/**' }, disabled: true },
      },
    }),
    refused: ['inputs', 'mcpServers.off.dev', 'mcpServers.on.headers.x-key'],
    noted: ['set the environment variable CLIENT_TOKEN (Token)', 'off.dev: left out'],
  },
};

/** The file with what the start named: keys without an equivalent removed, variables and switches in the form of the gateway. */
function corrected(file: ClientFile, refused: readonly string[]): ClientFile {
  const variable = /\$\{(env:CLIENT_TOKEN|input:client-token)\}/g;
  const copy = JSON.parse(JSON.stringify(file).replaceAll(variable, () => '${CLIENT_TOKEN}')) as ClientFile;
  const servers = copy.servers ?? copy.mcpServers!;
  for (const path of refused) {
    const [, id, key = ''] = path.split('.');
    if (key !== 'headers') delete servers[id as keyof Servers]?.[key];
  }
  servers.off['disabled'] = true;
  return copy.servers ? { servers } : { mcpServers: servers };
}

/** The text of a file as editors allow it. */
const commented = (file: ClientFile): string =>
  `// MCP servers\n{ // mine\n${JSON.stringify(file).slice(1, -1)}, /* no more */\n}\n`;

/** Starts the gateway with this file, and with the settings of the tests in the environment. */
function launchWith(content: string): Gateway {
  const dir = tempDir();
  const file = join(dir, 'mcp.json');
  writeFileSync(file, content);
  return launchGateway(['--config', file], {
    GATEHOUSE__STATEDIR: join(dir, 'state'),
    GATEHOUSE__METATOOLS: 'false',
    GATEHOUSE__ADMIN__TOKEN: ADMIN_TOKEN,
    CLIENT_TOKEN: TOKEN,
  });
}

describe.each(Object.entries(CLIENTS))('the configuration of %s', (_client, given) => {
  const { refused, noted, disabledTools = [], timeoutMs = 60_000 } = given;
  let server: ScriptedServer;
  let file: ClientFile;

  beforeAll(async () => {
    server = await ScriptedServer.start();
    server.tool('keep', () => text('kept')).tool('drop', () => text('dropped'));
    file = given.file(server.http, server.stdio());
  });

  /** What is served of the file once the first server is listed. */
  async function servedBy(gateway: Gateway): Promise<object> {
    await gateway.listening();
    await gateway.listed({ tools: ['on'] });
    const admin = new AdminClient(gateway);
    const [on, off, tools] = await Promise.all(
      ['servers/on', 'servers/off', 'tools'].map(async (path) => (await admin.get(path)).json),
    );
    return {
      on: { enabled: on!['enabled'], definition: on!['definition'] },
      off: off!['enabled'],
      tools: (tools!['tools'] as { ownName: string }[]).map(({ ownName }) => ownName),
      header: server.httpEndpoint.requests.at(-1)!.headers['x-key'],
      processes: server.links.filter(({ pid }) => pid !== undefined),
    };
  }

  /** What is on is served with its settings, and what is off is not even started. */
  const expected = (): object => ({
    on: { enabled: true, definition: { timeoutMs, tools: { disabled: disabledTools } } },
    off: false,
    tools: ['drop', 'keep'].filter((name) => !disabledTools.includes(name)),
    header: JSON.stringify(file).includes('x-key') ? TOKEN : undefined,
    processes: [],
  });

  it('stops the start as it is, with the path of each part to change and gatehouse config import', async () => {
    const gateway = launchWith(JSON.stringify(file));
    expect((await within('the gateway to exit', gateway.exited)).code).toBe(2);
    const problems = gateway.stderr.split('\n').filter((line) => line.startsWith('  '));
    expect(new Set(problems.map((line) => line.trim().split(': ')[0]))).toEqual(new Set(refused));
    for (const problem of problems) expect(problem).toContain('`gatehouse config import');
  });

  it('is served once these parts are changed, with comments and trailing commas of an editor', async () => {
    const gateway = launchWith(commented(corrected(file, refused)));
    expect(await servedBy(gateway)).toMatchObject(expected());
  });

  it('is converted by gatehouse config import, which names what it leaves out', async () => {
    const { code, stdout, stderr } = await launch(['config', 'import', '-'], {}, JSON.stringify(file)).done;
    expect(code).toBe(0);
    const notes = stderr.split('\n').filter((line) => line !== '');
    expect(notes).toEqual(noted.map((words) => expect.stringContaining(`note: ${words}`)));
    expect(await servedBy(launchWith(stdout))).toMatchObject(expected());
  });
});
