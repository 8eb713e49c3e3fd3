import { open, rename, stat, truncate } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { DirectoryLock } from '../directory-lock.js';
import { syncDirectory, writeDurably } from '../durable-write.js';
import { SerialQueue } from '../../lib/queues/serial-queue.js';
import { errnoOf, storageFailure, storageUnavailable } from '../storage-failure.js';
import { parseEntry, serializeEntry, type AuditEntry, type AuditEvent } from './audit-entry.js';
import { AuditLog } from './audit-log.js';
import { AuditFiles } from './audit-files.js';
import { writeHead } from './audit-head.js';
import { findPosition, type AuditPosition } from './audit-position.js';

const MAX_BYTES = 50 * 1024 * 1024;

export interface FileAuditLogOptions {
  /** Maximum size of a file; beyond it a new file is started. */
  readonly maxBytes?: number;
  readonly now?: () => Date;
}

/**
 * Audit log as JSON lines in `audit.jsonl` of the state directory, for a single gateway process. The chain does not protect
 * against a program that can write all files of the log: such a program can replace the whole chain.
 */
export class FileAuditLog extends AuditLog {
  private readonly queue = new SerialQueue();
  private readonly maxBytes: number;
  private readonly now: () => Date;
  /** The term of the lock (see `DirectoryLock.acquire`) in which `position` was found. */
  private lockTerm = 0;
  private isClosed = false;

  private constructor(
    private readonly files: AuditFiles,
    private readonly lock: DirectoryLock,
    private position: AuditPosition,
    { maxBytes = MAX_BYTES, now = () => new Date() }: FileAuditLogOptions,
  ) {
    super();
    this.maxBytes = maxBytes;
    this.now = now;
  }

  /**
   * Opens the log without writing; the first `append` acquires the lock. Rejects with a StateError when the log cannot be
   * continued. The caller closes the log and releases the lock.
   */
  static async open(
    directory: string,
    lock: DirectoryLock,
    options: FileAuditLogOptions = {},
  ): Promise<FileAuditLog> {
    const files = new AuditFiles(join(directory, 'audit.jsonl'));
    return new FileAuditLog(files, lock, await findPosition(files), options);
  }

  override append(event: AuditEvent): Promise<AuditEntry> {
    if (this.isClosed) return Promise.reject(storageUnavailable('the gateway is shutting down'));
    return this.queue.run(() => this.add(event));
  }

  override async close(): Promise<void> {
    this.isClosed = true;
    // The queue runs this empty task after all entries that were appended before.
    await this.queue.run(() => Promise.resolve());
  }

  private async add(event: AuditEvent): Promise<AuditEntry> {
    try {
      await this.findPositionAgainIfChanged();
      if (this.position.torn.length > 0) await this.setTornAside();
      const { end, notes } = this.position;
      const line = Buffer.from(`${serializeEntry(event, end, this.now(), notes)}\n`);
      if (this.position.size > 0 && this.position.size + line.length > this.maxBytes) await this.rotate();
      const entry = parseEntry(line.subarray(0, -1))!;
      await this.write(line, entry);
      return entry;
    } catch (error) {
      throw storageFailure(error, this.files.currentPath);
    }
  }

  /**
   * Finds the position again if another gateway may have added entries, because this process has lost the lock, or if the
   * size of the file has changed.
   */
  private async findPositionAgainIfChanged(): Promise<void> {
    const lockTerm = await this.lock.acquireForWrite();
    if (lockTerm === this.lockTerm && (await sizeOf(this.files.currentPath)) === this.position.size) return;
    this.position = await findPosition(this.files);
    this.lockTerm = lockTerm;
  }

  /** Moves the incomplete line at the end of the log to a file of its own. */
  private async setTornAside(): Promise<void> {
    const { torn, size, notes } = this.position;
    const tornPath = this.files.tornPath(this.now());
    await writeDurably(tornPath, torn);
    await truncate(this.files.currentPath, size);
    const note = `a line that was not written to its end, ${torn.length} bytes, is kept in ${basename(tornPath)}`;
    this.position = { ...this.position, torn: Buffer.alloc(0), notes: [...notes, note] };
  }

  /** Renames the full current file. The next write creates a new one. */
  private async rotate(): Promise<void> {
    const lastFullNumber = this.position.lastFullNumber + 1;
    await rename(this.files.currentPath, this.files.fullFilePath(lastFullNumber));
    this.position = { ...this.position, lastFullNumber, size: 0 };
  }

  private async write(line: Buffer, entry: AuditEntry): Promise<void> {
    const { size } = this.position;
    const file = await open(this.files.currentPath, 'a', 0o600);
    try {
      await file.appendFile(line);
      await file.datasync();
      if (size === 0) await syncDirectory(this.files.directory);
      await writeHead(this.files.headPath, entry);
      const end = { seq: entry.seq, hash: entry.hash };
      this.position = { ...this.position, end, size: size + line.length, notes: [] };
    } catch (error) {
      // If the truncation fails too, term 0 makes the next `append` find the position again: the lock never has this term.
      await file.truncate(size).catch(() => {
        this.lockTerm = 0;
      });
      throw error;
    } finally {
      await file.close();
    }
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    const { size } = await stat(path);
    return size;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 0;
    throw error;
  }
}
