import { join } from 'node:path';
import type { LoggerService } from '@nestjs/common';
import type { DirectoryLock } from './directory-lock.js';
import { SerialQueue } from '../lib/queues/serial-queue.js';
import { parseChange, serializeChange, type SessionChange } from './session-change.js';
import { SessionJournal } from './session-journal.js';
import { SessionRecordSet } from './session-record-set.js';
import {
  SessionRecords,
  type SessionRecord,
  type StoredSession,
  storedMembers,
  type StoredSubscription,
} from './session-records.js';

type Log = Pick<LoggerService, 'log' | 'warn'>;

/** Delay before the next write after a failed one. */
const RETRY_DELAY_MS = 5000;
const LINES_PER_WRITE = 2000;

export interface RecordsOptions {
  readonly journal?: SessionJournal;
  readonly retryDelayMs?: number;
}

/** Session records in a journal of the state directory, for a single gateway process. */
export class FileSessionRecords extends SessionRecords {
  private readonly queue = new SerialQueue();
  private readonly records = new SessionRecordSet();
  /** Lines that are not written yet. */
  private unwrittenLines: string[] = [];
  /** The write that was queued last. It writes all `unwrittenLines`. */
  private lastWrite: Promise<void> = Promise.resolve();
  private failureCount = 0;
  private failedAt = -Infinity;
  /** Whether the last write failed. */
  private isFailing = false;
  private isClosed = false;

  private constructor(
    private readonly journal: SessionJournal,
    private readonly lock: DirectoryLock,
    private readonly log: Log,
    private readonly retryDelayMs: number,
  ) {
    super();
  }

  /**
   * Reads the records. Never rejects: sessions whose records cannot be read are not restored. The caller closes the records
   * and releases the lock.
   */
  static async open(
    directory: string,
    lock: DirectoryLock,
    log: Log,
    {
      journal = new SessionJournal(join(directory, 'sessions.jsonl')),
      retryDelayMs = RETRY_DELAY_MS,
    }: RecordsOptions = {},
  ): Promise<FileSessionRecords> {
    const records = new FileSessionRecords(journal, lock, log, retryDelayMs);
    await records.start();
    return records;
  }

  override get failures(): number {
    return this.failureCount;
  }

  override load(): Promise<readonly SessionRecord[]> {
    return Promise.resolve([...this.records.all()]);
  }

  override put(session: StoredSession, seen: number): void {
    this.record({ do: 'keep', session, seen });
  }

  override touch(session: string, seen: number): void {
    this.record({ do: 'saw', session, seen });
  }

  override addSubscription(session: string, subscription: StoredSubscription): void {
    this.record({ do: 'subscribe', session, subscription: storedMembers(subscription) });
  }

  override removeSubscription(session: string, subscription: string): void {
    this.record({ do: 'unsubscribe', session, subscription });
  }

  override remove(session: string): void {
    this.record({ do: 'forget', session });
  }

  override flush(): Promise<void> {
    return this.lastWrite;
  }

  override async close(): Promise<void> {
    this.isClosed = true;
    await this.queue.run(() => this.journal.close());
  }

  private async start(): Promise<void> {
    try {
      await this.lock.acquire();
      const { changes, damage } = await this.journal.read();
      for (const change of changes) this.records.apply(change);
      if (damage === undefined) return;
      this.failureCount++;
      this.log.warn({
        message: 'some session records are damaged: their clients have to initialize again',
        cause: damage,
      });
    } catch (error) {
      this.failureCount++;
      this.log.warn({
        message: 'session records cannot be read: earlier sessions are not restored',
        cause: String(error),
      });
    }
  }

  /** Queues a change. The changes of one event-loop iteration, or those during a write, are written together. */
  private record(change: SessionChange): void {
    if (this.isClosed) return;
    const line = serializeChange(change);
    // A line that cannot be parsed would make all later lines unreadable.
    if (!parseChange(line) || !this.records.apply(change)) return;
    this.unwrittenLines.push(line);
    const isWriteQueued = this.unwrittenLines.length > 1;
    if (!isWriteQueued) this.lastWrite = this.queue.run(() => this.write());
  }

  private async write(): Promise<void> {
    const lines = this.unwrittenLines.splice(0);
    // These lines are not lost: after a failed write the journal needs a compaction, which writes all records.
    if (performance.now() - this.failedAt < this.retryDelayMs) return;
    try {
      if (this.journal.needsCompaction) await this.compact();
      else await this.append(lines);
      if (this.isFailing) this.log.log({ message: 'session records are written again' });
      this.isFailing = false;
    } catch (error) {
      this.failedAt = performance.now();
      this.reportFailedWrite(error);
    }
  }

  /** Writes in chunks, because many lines may have accumulated during a compaction. */
  private async append(lines: readonly string[]): Promise<void> {
    for (let start = 0; start < lines.length; start += LINES_PER_WRITE)
      await this.journal.append(lines.slice(start, start + LINES_PER_WRITE).join(''));
  }

  private async compact(): Promise<void> {
    await this.lock.acquireForWrite();
    await this.journal.replace(this.records.changes());
  }

  /** Logs only the first of successive failures. */
  private reportFailedWrite(error: unknown): void {
    this.failureCount++;
    if (!this.isFailing)
      this.log.warn({
        message: 'session records cannot be written: sessions would not survive a restart',
        cause: String(error),
      });
    this.isFailing = true;
  }
}
