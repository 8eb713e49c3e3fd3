import { chownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const UNPRIVILEGED_UID = 65534;

/** Calls `act` as a user who is not root, because root may write read-only files. That user owns the files from then on. */
export async function unprivileged<T>(directory: string, act: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return act();
  for (const name of ['', ...readdirSync(directory)])
    chownSync(join(directory, name), UNPRIVILEGED_UID, UNPRIVILEGED_UID);
  process.seteuid!(UNPRIVILEGED_UID);
  try {
    return await act();
  } finally {
    process.seteuid!(0);
  }
}
