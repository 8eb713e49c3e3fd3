import { constants } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from '../durable-write.js';
import { errnoOf } from '../storage-failure.js';
import type { EntryReference } from './audit-entry.js';

/** Less than a disk sector. A sector is written completely or not at all, and so is a record. */
const RECORD_BYTES = 128;
const RECORD = /^\{"seq":(\d+),"hash":"([0-9a-f]{64})"\} *\n$/;

export type AuditHead = EntryReference | 'missing' | 'damaged';

/** Reads the head, which names the last written entry. With it, missing entries at the end of the log are detected. */
export async function readHead(path: string): Promise<AuditHead> {
  try {
    const [, seq, hash] = RECORD.exec(await readFile(path, 'latin1')) ?? [];
    return seq === undefined || hash === undefined ? 'damaged' : { seq: Number(seq), hash };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 'missing';
    throw error;
  }
}

/**
 * Writes the head. Only the first write is synced to disk, so that the file exists with its full length. Later writes
 * overwrite it in place without a sync: a power failure may leave an older head, which is valid too.
 */
export async function writeHead(path: string, { seq, hash }: EntryReference): Promise<void> {
  const record = `${`{"seq":${seq},"hash":"${hash}"}`.padEnd(RECORD_BYTES - 1)}\n`;
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT, 0o600);
  try {
    const { size } = await file.stat();
    await file.write(record, 0);
    if (size === RECORD_BYTES) return;
    await file.truncate(RECORD_BYTES);
    await file.sync();
  } finally {
    await file.close();
  }
  await syncDirectory(dirname(path));
}
