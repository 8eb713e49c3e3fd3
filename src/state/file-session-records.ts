import { join } from 'node:path';
import type { LoggerService } from '@nestjs/common';
import type { DirectoryLock } from './directory-lock.js';
import { SerialQueue } from '../lib/queues/serial-queue.js';
import { readChange, writeChange, type SessionChange } from './session-change.js';
import { SessionJournal } from './session-journal.js';
import { SessionLedger } from './session-ledger.js';
import {
  SessionRecords,
  type SessionRecord,
  type StoredSession,
  type StoredSubscription,
} from './session-records.js';

type Log = Pick<LoggerService, 'log' | 'warn'>;

/** A disk that is full is not asked again with every change. */
const PAUSE_MS = 5000;
/** Lines in one write. */
const SLICE = 2000;

export interface RecordsOptions {
  readonly journal?: SessionJournal;
  readonly pauseMs?: number;
}

/** Sessions in a journal of the state directory, for a gateway that is alone. */
export class FileSessionRecords extends SessionRecords {
  private readonly queue = new SerialQueue();
  private readonly ledger = new SessionLedger();
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
    private readonly pauseMs: number,
  ) {
    super();
  }

  /**
   * Never rejects: clients of sessions that cannot be read initialize again. Ends with `close`; the lock is its
   * owner's to release.
   */
  static async open(
    directory: string,
    lock: DirectoryLock,
    log: Log,
    {
      journal = new SessionJournal(join(directory, 'sessions.jsonl')),
      pauseMs = PAUSE_MS,
    }: RecordsOptions = {},
  ): Promise<FileSessionRecords> {
    const records = new FileSessionRecords(journal, lock, log, pauseMs);
    await records.start();
    return records;
  }

  override get failures(): number {
    return this.failed;
  }

  override load(): Promise<readonly SessionRecord[]> {
    return Promise.resolve([...this.ledger]);
  }

  override keep(session: StoredSession, seen: number): void {
    this.make({ do: 'keep', session, seen });
  }

  override saw(session: string, seen: number): void {
    this.make({ do: 'saw', session, seen });
  }

  override subscribed(session: string, { id, server, uri, since }: StoredSubscription): void {
    this.make({ do: 'subscribe', session, subscription: { id, server, uri, since } });
  }

  override unsubscribed(session: string, subscription: string): void {
    this.make({ do: 'unsubscribe', session, subscription });
  }

  override forget(session: string): void {
    this.make({ do: 'forget', session });
  }

  override written(): Promise<void> {
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
      for (const change of changes) this.ledger.apply(change);
      if (damage === undefined) return;
      this.failed++;
      this.log.warn({ message: 'some sessions are lost: their clients initialize again', cause: damage });
    } catch (error) {
      this.fail(error);
    }
  }

  /** All that is changed within one turn of the event loop, or while a write is under way, is written together. */
  private make(change: SessionChange): void {
    if (this.isClosed) return;
    const line = writeChange(change);
    // A line that could not be read back would keep all after it from being read.
    if (!readChange(line) || !this.ledger.apply(change)) return;
    if (this.lines.push(line) === 1) this.batch = this.queue.run(() => this.write());
  }

  private async write(): Promise<void> {
    const lines = this.lines.splice(0);
    // What is not written now is in the ledger, and so in the next file.
    if (performance.now() - this.failedAt < this.pauseMs) return;
    try {
      if (this.journal.isDue) await this.replace();
      else await this.append(lines);
      if (this.isFailing) this.log.log({ message: 'sessions are kept over a restart again' });
      this.isFailing = false;
    } catch (error) {
      this.failedAt = performance.now();
      this.fail(error);
    }
  }

  /** Many may have come while a new file was written. */
  private async append(lines: readonly string[]): Promise<void> {
    for (let start = 0; start < lines.length; start += SLICE)
      await this.journal.append(lines.slice(start, start + SLICE).join(''));
  }

  private async replace(): Promise<void> {
    await this.lock.hold();
    await this.journal.replace(this.ledger.changes());
  }

  /** Said once, and again only after it went well. */
  private fail(error: unknown): void {
    this.failed++;
    if (!this.isFailing)
      this.log.warn({ message: 'sessions are not kept over a restart for now', cause: String(error) });
    this.isFailing = true;
  }
}
