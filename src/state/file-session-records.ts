import { join } from 'node:path';
import type { LoggerService } from '@nestjs/common';
import type { DirectoryLock } from './directory-lock.js';
import { SerialQueue } from '../lib/queues/serial-queue.js';
import { readChange, SessionJournal, writeChange, type SessionChange } from './session-journal.js';
import { SessionRecordSet } from './session-record-set.js';
import {
  SessionRecords,
  type SessionRecord,
  type StoredSession,
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
  private lines: string[] = [];
  private batch: Promise<void> = Promise.resolve();
  private failed = 0;
  private failedAt = -Infinity;
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
   * Never rejects: clients of sessions that cannot be read initialize again. The caller closes the records and releases
   * the lock.
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
    return this.failed;
  }

  override load(): Promise<readonly SessionRecord[]> {
    return Promise.resolve([...this.records]);
  }

  override put(session: StoredSession, seen: number): void {
    this.record({ do: 'keep', session, seen });
  }

  override touch(session: string, seen: number): void {
    this.record({ do: 'saw', session, seen });
  }

  override addSubscription(session: string, { id, server, uri, since }: StoredSubscription): void {
    this.record({ do: 'subscribe', session, subscription: { id, server, uri, since } });
  }

  override removeSubscription(session: string, subscription: string): void {
    this.record({ do: 'unsubscribe', session, subscription });
  }

  override remove(session: string): void {
    this.record({ do: 'forget', session });
  }

  override flush(): Promise<void> {
    return this.batch;
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
      this.failed++;
      this.log.warn({
        message: 'some session records are damaged: their clients have to initialize again',
        cause: damage,
      });
    } catch (error) {
      this.fail(error);
    }
  }

  /** Batches the changes of one event-loop iteration, and those made during a pending write. */
  private record(change: SessionChange): void {
    if (this.isClosed) return;
    const line = writeChange(change);
    // A line that cannot be parsed would make all later lines unreadable.
    if (!readChange(line) || !this.records.apply(change)) return;
    if (this.lines.push(line) === 1) this.batch = this.queue.run(() => this.write());
  }

  private async write(): Promise<void> {
    const lines = this.lines.splice(0);
    // Lines that are skipped here are part of the next compaction.
    if (performance.now() - this.failedAt < this.retryDelayMs) return;
    try {
      if (this.journal.needsCompaction) await this.replace();
      else await this.append(lines);
      if (this.isFailing) this.log.log({ message: 'session records are written again' });
      this.isFailing = false;
    } catch (error) {
      this.failedAt = performance.now();
      this.fail(error);
    }
  }

  /** Writes in chunks: many lines may have accumulated during a compaction. */
  private async append(lines: readonly string[]): Promise<void> {
    for (let start = 0; start < lines.length; start += LINES_PER_WRITE)
      await this.journal.append(lines.slice(start, start + LINES_PER_WRITE).join(''));
  }

  private async replace(): Promise<void> {
    await this.lock.hold();
    await this.journal.replace(this.records.changes());
  }

  /** Logs the first failure of a series only. */
  private fail(error: unknown): void {
    this.failed++;
    if (!this.isFailing)
      this.log.warn({
        message: 'session records cannot be written: sessions would not survive a restart',
        cause: String(error),
      });
    this.isFailing = true;
  }
}
