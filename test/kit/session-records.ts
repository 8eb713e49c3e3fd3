import { DirectoryLock } from '../../src/state/directory-lock.js';
import { FileSessionRecords, type RecordsOptions } from '../../src/state/file-session-records.js';
import { SessionRecordSet } from '../../src/state/session-record-set.js';
import {
  SessionRecords,
  type SessionRecord,
  type StoredSession,
  storedMembers,
  type StoredSubscription,
} from '../../src/state/session-records.js';
import { onCleanup } from './cleanup.js';

/** Session records in memory; a second instance on the same set acts as the next process. */
export class MemorySessionRecords extends SessionRecords {
  private isClosed = false;
  readonly failures = 0;

  constructor(readonly stored = new SessionRecordSet()) {
    super();
  }

  override load(): Promise<readonly SessionRecord[]> {
    return Promise.resolve([...this.stored.all()]);
  }

  override put(session: StoredSession, seen: number): void {
    if (!this.isClosed) this.stored.apply({ do: 'keep', session, seen });
  }

  override touch(session: string, seen: number): void {
    if (!this.isClosed) this.stored.apply({ do: 'saw', session, seen });
  }

  override addSubscription(session: string, row: StoredSubscription): void {
    const subscription = storedMembers(row);
    if (!this.isClosed) this.stored.apply({ do: 'subscribe', session, subscription });
  }

  override removeSubscription(session: string, subscription: string): void {
    if (!this.isClosed) this.stored.apply({ do: 'unsubscribe', session, subscription });
  }

  override remove(session: string): void {
    if (!this.isClosed) this.stored.apply({ do: 'forget', session });
  }

  override flush(): Promise<void> {
    return Promise.resolve();
  }

  override close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }
}

export interface OpenRecords {
  readonly records: FileSessionRecords;
  /** All log messages. */
  readonly logged: string[];
  /** Closes as a gateway does when it stops; also runs after the test. */
  readonly close: () => Promise<void>;
}

/** Opens the session records of a directory as a gateway does. */
export async function openRecords(directory: string, options?: RecordsOptions): Promise<OpenRecords> {
  const logged: string[] = [];
  const write = (entry: { message: string }): void => void logged.push(entry.message);
  const lock = new DirectoryLock(directory);
  const records = await FileSessionRecords.open(directory, lock, { log: write, warn: write }, options);
  const close = async (): Promise<void> => {
    await records.close();
    await lock.release();
  };
  onCleanup(close);
  return { records, logged, close };
}

/** A stored session with typical values. */
export const storedSession = (id: string, more: Partial<StoredSession> = {}): StoredSession => ({
  id,
  principal: { id: 'key:ci', grants: ['payments'], terms: 'abc' },
  revision: '2025-11-25',
  opened: 1,
  profile: '{"capabilities":{"roots":{}}}',
  ...more,
});

export const storedSubscription = (id: string, uri = `x://${id}`): StoredSubscription => ({
  id,
  server: 'docs',
  uri,
  since: 2,
});
