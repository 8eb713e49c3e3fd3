import { isDeepStrictEqual } from 'node:util';
import type { LoggerService } from '@nestjs/common';
import { NO_DECISIONS } from './decisions.js';
import { asStored, toJson } from './decisions-json.js';
import { DesiredState, type DecisionListener, type Decisions } from './decision-store.js';
import type { DirectoryLock } from './directory-lock.js';
import { SerialQueue } from '../lib/queues/serial-queue.js';
import { StateFile } from './state-file.js';
import { isStorageFailure, storageFailure, storageUnavailable } from './storage-failure.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';

type Log = Pick<LoggerService, 'warn' | 'error'>;

/** Decisions in a file of the state directory, for a gateway that is alone. */
export class FileDesiredState extends DesiredState {
  private readonly queue = new SerialQueue();
  private readonly listeners = new ListenerSet<Parameters<DecisionListener>>((error) =>
    this.log.error({ message: 'a listener failed on a change of the state', cause: String(error) }),
  );
  private decisions: Decisions = NO_DECISIONS;
  private tenure = 0;
  private isClosed = false;

  private constructor(
    private readonly file: StateFile,
    private readonly lock: DirectoryLock,
    private readonly log: Log,
  ) {
    super();
  }

  /** Ends with `close`; the lock is its owner's to release. */
  static async open(directory: string, lock: DirectoryLock, log: Log): Promise<FileDesiredState> {
    const state = new FileDesiredState(new StateFile(directory), lock, log);
    await state.start();
    return state;
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
    await this.queue.run(() => Promise.resolve());
  }

  /** A directory that cannot be written is no reason not to serve: what it says can still be read. */
  private async start(): Promise<void> {
    try {
      this.tenure = await this.lock.acquire();
      await this.file.tidy();
    } catch (error) {
      if (!isStorageFailure(error)) throw error;
      this.log.warn({ message: 'admin changes are refused for now', cause: (error as Error).message });
    }
    this.decisions = await this.load();
  }

  private async load(): Promise<Decisions> {
    const { decisions, warning } = await this.file.load();
    if (warning) this.log.warn({ message: warning });
    return asStored(decisions);
  }

  private async apply(change: (decisions: Decisions) => Decisions): Promise<Decisions> {
    await this.catchUp();
    const before = this.decisions;
    const now = asStored({ ...change(before), revision: before.revision + 1 });
    if (isDeepStrictEqual(toJson(now), toJson(before))) return before;
    await this.file.save(now);
    this.become(now);
    return now;
  }

  /** While somebody else had the directory, they may have decided something. */
  private async catchUp(): Promise<void> {
    const tenure = await this.lock.hold();
    if (tenure === this.tenure) return;
    const stored = await this.load().catch((error: unknown) => {
      throw storageFailure(error, this.file.path);
    });
    this.tenure = tenure;
    if (stored.revision > this.decisions.revision) this.become(stored);
  }

  private become(now: Decisions): void {
    const before = this.decisions;
    this.decisions = now;
    this.listeners.emit(now, before);
  }
}
