import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { freePort } from './http.js';
import { exitOf, killAfterTest, type Exit } from './processes.js';
import { until, within } from './until.js';

/** The path of a published MCP server, which `npm ci` installs. */
const programOf = (name: string): string =>
  resolve(`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);

interface StdioEntry {
  readonly command: string;
  readonly args: string[];
  readonly env?: Record<string, string>;
}

export const everythingOverStdio = (): StdioEntry => ({
  command: process.execPath,
  args: [programOf('everything'), 'stdio'],
});

export const filesystem = (dir: string): StdioEntry => ({
  command: process.execPath,
  args: [programOf('filesystem'), dir],
});

export const memory = (file: string): StdioEntry => ({
  command: process.execPath,
  args: [programOf('memory')],
  env: { MEMORY_FILE_PATH: file },
});

export interface RemoteServer {
  readonly url: string;
  readonly pid: number;
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<Exit>;
}

/** Starts the server as a process that the gateway reaches over HTTP. */
export async function startEverything(
  transport: 'streamableHttp' | 'sse',
  port?: number,
): Promise<RemoteServer> {
  const at = port ?? (await freePort());
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [programOf('everything'), transport], {
    env: { PATH, HOME, PORT: String(at) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = exitOf(child);
  killAfterTest(child, exited);
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  await until(`everything listens over ${transport}`, () => output.includes(`port ${at}`));
  const path = transport === 'sse' ? 'sse' : 'mcp';
  return {
    url: `http://127.0.0.1:${at}/${path}`,
    pid: child.pid!,
    kill: () => {
      child.kill('SIGKILL');
      return within('the server to exit', exited);
    },
  };
}
