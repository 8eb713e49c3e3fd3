import { spawn } from 'node:child_process';
import { cpSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Gateway } from '../kit/gateway.js';
import { descendantsOf, untilExited } from '../kit/processes.js';
import { RawSession } from '../kit/raw-session.js';
import { tempDir } from '../kit/temp-dir.js';

/** The files and folders of a clone that a build needs. */
const FILES = ['.npmrc', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
const FOLDERS = ['src', 'scripts', 'config', 'docs'];

function freshClone(): string {
  const dir = tempDir();
  for (const name of [...FILES, ...FOLDERS]) cpSync(name, join(dir, name), { recursive: true });
  symlinkSync(resolve('node_modules'), join(dir, 'node_modules'));
  return dir;
}

async function npmStart(cwd: string): Promise<Gateway> {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, GATEHOUSE__HTTP__PORT: '0', GATEHOUSE__SHUTDOWN__ACCEPTMS: '0' };
  const gateway = new Gateway(
    spawn('npm', ['--silent', 'start'], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  await gateway.listening(120_000);
  return gateway;
}

describe('npm start', () => {
  it('builds missing or outdated output, serves the default config, and stops on a signal', async () => {
    const dir = freshClone();
    const builtAt = (): number => statSync(join(dir, 'dist/main.js')).mtimeMs;

    const first = await npmStart(dir);
    expect(first.stderr).toContain('Building Gatehouse');
    expect(first.stdout).toMatch(/^[^\n]* http:\/\/127\.0\.0\.1:\d+\/mcp\n$/);
    await first.listed({ tools: ['everything', 'filesystem', 'memory'] });
    const session = await RawSession.open(first.url);
    const { result } = await session.callTool('everything__echo', { message: 'hello' });
    expect(JSON.stringify(result)).toContain('hello');
    const started = builtAt();
    const processes = descendantsOf(first.pid);
    expect(processes.length).toBeGreaterThan(3);
    await first.stop();
    await untilExited(processes);

    const second = await npmStart(dir);
    expect(builtAt()).toBe(started);
    expect(second.stderr).toBe('');
    await second.stop();

    utimesSync(join(dir, 'src/main.ts'), new Date(), new Date());
    const third = await npmStart(dir);
    expect(builtAt()).toBeGreaterThan(started);
    await third.stop();
  }, 300_000);
});
