import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { tryParseJson } from '../lib/json-text/json-value.js';
import { removeQuietly } from './durable-write.js';
import { isProcessIdentity, isRunning, type ProcessIdentity } from './process-identity.js';
import { errnoOf } from './storage-failure.js';

const CLAIM = /^lock-[0-9a-f]{16}(\.tmp)?$/;

/** A valid claim of another process on the directory. */
export interface CompetingClaim {
  readonly holder: ProcessIdentity;
  /** True if the process was found running. False if only its recent heartbeat suggests that the process runs. */
  readonly isVerified: boolean;
  /** Path of the claim and time of its last heartbeat. A different value at a later read shows that the process runs. */
  readonly heartbeat: string;
}

/** Returns the valid claims of other processes. Removes the claims of dead processes. `now` is the file system's time. */
export async function competingClaims(
  ownPath: string,
  now: number,
  leaseMs: number,
): Promise<CompetingClaim[]> {
  const directory = dirname(ownPath);
  const names = (await readdir(directory)).filter((name) => CLAIM.test(name));
  const others = names.map((name) => join(directory, name)).filter((path) => path !== ownPath);
  const claims = await Promise.all(others.map((path) => validClaimAt(path, now, leaseMs)));
  return claims.filter((claim) => claim !== undefined);
}

async function validClaimAt(path: string, now: number, leaseMs: number): Promise<CompetingClaim | undefined> {
  const claim = await readClaim(path);
  if (!claim) return undefined;
  const { holder, mtimeMs } = claim;
  // A claim with a time far in the future counts as expired too, because the clock must have been changed.
  const isFresh = Math.abs(now - mtimeMs) < leaseMs;
  // Undefined for a process in another PID namespace: then the age of the claim decides.
  const isHolderRunning = holder && isRunning(holder);
  if (holder && (isHolderRunning ?? isFresh))
    return { holder, isVerified: isHolderRunning === true, heartbeat: `${path} ${mtimeMs}` };
  // A claim without a holder is incomplete. While it is fresh, it is not removed. It can be ignored: the process that writes it
  // reads the claims of others only after that, and then finds the claim of this process.
  const isBeingWritten = !holder && isFresh;
  if (!isBeingWritten) await removeQuietly(path);
  return undefined;
}

async function readClaim(
  path: string,
): Promise<{ holder: ProcessIdentity | undefined; mtimeMs: number } | undefined> {
  try {
    const { mtimeMs } = await stat(path);
    const text = await readFile(path, 'utf8');
    return { holder: path.endsWith('.tmp') ? undefined : processIdentityIn(text), mtimeMs };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function processIdentityIn(text: string): ProcessIdentity | undefined {
  const value = tryParseJson(text);
  return isProcessIdentity(value) ? value : undefined;
}
