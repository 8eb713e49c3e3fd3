import { chownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const NOBODY = 65534;

/** Runs something as a user whom file modes bind, because root may write what is read-only. The files become theirs. */
export async function unprivileged<T>(directory: string, act: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return act();
  for (const name of ['', ...readdirSync(directory)]) chownSync(join(directory, name), NOBODY, NOBODY);
  process.seteuid!(NOBODY);
  try {
    return await act();
  } finally {
    process.seteuid!(0);
  }
}
