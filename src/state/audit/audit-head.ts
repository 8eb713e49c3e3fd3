import { constants } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from '../durable-write.js';
import { errnoOf } from '../storage-failure.js';
import type { ChainEnd } from './audit-entry.js';

/** Smaller than a disk sector, which is written completely or not at all. */
const RECORD_BYTES = 128;
const RECORD = /^\{"seq":(\d+),"hash":"([0-9a-f]{64})"\} *\n$/;

export type AuditHead = ChainEnd | 'missing' | 'damaged';

/** The head names the last written entry, so that a log that was cut off at its end is detected. */
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
 * Only the first head is synced, so that the file exists with its full length. Later heads overwrite it in place without
 * a sync: after a power failure, an older head is still valid.
 */
export async function writeHead(path: string, { seq, hash }: ChainEnd): Promise<void> {
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
