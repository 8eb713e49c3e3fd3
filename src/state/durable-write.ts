import { open, rm } from 'node:fs/promises';
import { errnoOf } from './storage-failure.js';

/** Writes a file of our own and waits for the disk to have it. A failure leaves no file behind. */
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

/** Waits for the disk to know the names in a directory: until then a file that was renamed may have its old name. */
export async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open a directory.
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } catch (error) {
    // Some network file systems know no such thing, and need none.
    if (errnoOf(error) !== 'EINVAL') throw error;
  } finally {
    await directory.close();
  }
}

/** For what is left over: that it cannot be removed either is no reason to fail. */
export async function removeQuietly(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => undefined);
}
