import { open, rm } from 'node:fs/promises';
import { errnoOf } from './storage-failure.js';

/** Writes a file and syncs it to disk. A failure leaves no file behind. */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  try {
    const file = await open(path, 'w', 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    await removeQuietly(path);
    throw error;
  }
}

/** Syncs a directory to disk. Before this, a power failure may undo the renaming of a file in the directory. */
export async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open a directory as a file.
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } catch (error) {
    // Some network file systems cannot sync a directory.
    if (errnoOf(error) !== 'EINVAL') throw error;
  } finally {
    await directory.close();
  }
}

/** Removes a file if possible; a failure is ignored. */
export async function removeQuietly(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => undefined);
}
