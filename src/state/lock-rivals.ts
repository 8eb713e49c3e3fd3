import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeQuietly } from './durable-write.js';
import { isProcessIdentity, isRunning, type ProcessIdentity } from './process-identity.js';
import { errnoOf } from './storage-failure.js';

const CLAIM = /^lock-[0-9a-f]{16}(\.tmp)?$/;

/** Somebody else whose claim on the directory counts. */
export interface Rival {
  readonly holder: ProcessIdentity;
  /** Seen to run, and not only believed to because the claim is fresh. */
  readonly isSeen: boolean;
  /** Which claim, and when it last beat: another one than before is a sign of life. */
  readonly beat: string;
}

/** The claims beside one's own. Those of the dead are removed on the way. `now` is the file system's time. */
export async function rivalsOf(ownPath: string, now: number, lease: number): Promise<Rival[]> {
  const directory = dirname(ownPath);
  const names = (await readdir(directory)).filter((name) => CLAIM.test(name));
  const others = names.map((name) => join(directory, name)).filter((path) => path !== ownPath);
  const rivals = await Promise.all(others.map((path) => judge(path, now, lease)));
  return rivals.filter((rival) => rival !== undefined);
}

async function judge(path: string, now: number, lease: number): Promise<Rival | undefined> {
  const claim = await read(path);
  if (!claim) return undefined;
  const { holder, mtimeMs } = claim;
  // A claim from the future is as dead as one from the past: the clock was set.
  const isFresh = Math.abs(now - mtimeMs) < lease;
  const runs = holder && isRunning(holder);
  if (holder && (runs ?? isFresh)) return { holder, isSeen: runs === true, beat: `${path} ${mtimeMs}` };
  // What is no claim yet may become one: its writer looks around again once it is.
  if (holder || !isFresh) await removeQuietly(path);
  return undefined;
}

async function read(
  path: string,
): Promise<{ holder: ProcessIdentity | undefined; mtimeMs: number } | undefined> {
  try {
    const { mtimeMs } = await stat(path);
    const text = await readFile(path, 'utf8');
    return { holder: path.endsWith('.tmp') ? undefined : parse(text), mtimeMs };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function parse(text: string): ProcessIdentity | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isProcessIdentity(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
