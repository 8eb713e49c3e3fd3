import { isDeepStrictEqual } from 'node:util';
import type { LoggerService } from '@nestjs/common';
import { NO_DECISIONS } from './decisions.js';
import { asStored, toJson } from './decisions-json.js';
import { DecisionStore, type DecisionListener, type Decisions } from './decision-store.js';
import type { DirectoryLock } from './directory-lock.js';
import { SerialQueue } from '../lib/queues/serial-queue.js';
import { StateFile } from './state-file.js';
import { isStorageError, storageFailure, storageUnavailable } from './storage-failure.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';

type Log = Pick<LoggerService, 'warn' | 'error'>;

/** Decisions in a file of the state directory, for a single gateway process. */
export class FileDecisionStore extends DecisionStore {
  private readonly queue = new SerialQueue();
  private readonly listeners = new ListenerSet<Parameters<DecisionListener>>((error) =>
    this.log.error({ message: 'a listener of decisions failed', cause: String(error) }),
  );
  private decisions: Decisions = NO_DECISIONS;
  /** The term of the lock in which `decisions` were last read or written. */
  private lockTerm = 0;
  private isClosed = false;

  private constructor(
    private readonly file: StateFile,
    private readonly lock: DirectoryLock,
    private readonly log: Log,
  ) {
    super();
  }

  /** The caller closes the store and releases the lock. */
  static async open(directory: string, lock: DirectoryLock, log: Log): Promise<FileDecisionStore> {
    const store = new FileDecisionStore(new StateFile(directory), lock, log);
    await store.start();
    return store;
  }

  override get current(): Decisions {
    return this.decisions;
  }

  override update(change: (decisions: Decisions) => Decisions): Promise<Decisions> {
    if (this.isClosed) return Promise.reject(storageUnavailable('the gateway is shutting down'));
    return this.queue.run(() => this.apply(change));
  }

  override onChange(listener: DecisionListener): () => void {
    return this.listeners.add(listener);
  }

  override async close(): Promise<void> {
    this.isClosed = true;
    // The queue runs this empty task after all changes that were requested before.
    await this.queue.run(() => Promise.resolve());
  }

  /**
   * Acquires the lock and loads the decisions. If the directory is not writable, the gateway still starts: it applies
   * existing decisions and refuses changes.
   */
  private async start(): Promise<void> {
    try {
      this.lockTerm = await this.lock.acquire();
      await this.file.removeTemporary();
    } catch (error) {
      if (!isStorageError(error)) throw error;
      this.log.warn({
        message: 'admin changes are refused until stateDir can be written',
        cause: (error as Error).message,
      });
    }
    this.decisions = await this.load();
  }

  private async load(): Promise<Decisions> {
    const { decisions, warning } = await this.file.load();
    if (warning) this.log.warn({ message: warning });
    return asStored(decisions);
  }

  private async apply(change: (decisions: Decisions) => Decisions): Promise<Decisions> {
    await this.reloadAfterLockLoss();
    const before = this.decisions;
    const now = asStored({ ...change(before), revision: before.revision + 1 });
    if (isDeepStrictEqual(toJson(now), toJson(before))) return before;
    await this.file.save(now);
    this.publish(now);
    return now;
  }

  /** Loads the decisions again if the lock was lost, because another process may have changed them meanwhile. */
  private async reloadAfterLockLoss(): Promise<void> {
    const term = await this.lock.acquireForWrite();
    if (term === this.lockTerm) return;
    const stored = await this.load().catch((error: unknown) => {
      throw storageFailure(error, this.file.path);
    });
    this.lockTerm = term;
    if (stored.revision > this.decisions.revision) this.publish(stored);
  }

  private publish(now: Decisions): void {
    const before = this.decisions;
    this.decisions = now;
    this.listeners.emit(now, before);
  }
}
