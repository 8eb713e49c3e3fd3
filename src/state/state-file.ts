import { copyFile, link, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NO_DECISIONS } from './decisions.js';
import type { Decisions } from './decision-store.js';
import { removeQuietly, syncDirectory, writeDurably } from './durable-write.js';
import { readState, writeState } from './state-document.js';
import { StateError } from './state-error.js';
import { errnoOf, storageFailure } from './storage-failure.js';

type Copy = { readonly decisions: Decisions } | { readonly damage: string } | 'absent';

export interface LoadedState {
  readonly decisions: Decisions;
  /** Why the file itself was not used. */
  readonly warning?: string;
}

/**
 * `state.json`, with the version before it as `state.json.bak`. Whatever moment the process or the machine dies in, one
 * of the two is whole and holds the last thing that was saved. For one writer at a time.
 */
export class StateFile {
  readonly path: string;
  private readonly previous: string;
  private readonly next: string;
  /** Whether `path` holds what was last loaded or saved: what is damaged must not become the previous version. */
  private isWhole = false;

  constructor(directory: string) {
    this.path = join(directory, 'state.json');
    this.previous = `${this.path}.bak`;
    this.next = `${this.path}.tmp`;
  }

  /** Only reads. */
  async load(): Promise<LoadedState> {
    const copy = await read(this.path);
    this.isWhole = isGood(copy);
    if (isGood(copy)) return copy;
    const previous = await read(this.previous);
    if (copy === 'absent' && previous === 'absent') return { decisions: NO_DECISIONS };
    if (!isGood(previous)) throw this.unusable(copy, previous);
    return { ...previous, warning: `${this.path} cannot be used: ${sayWhat(copy)}; using ${this.previous}` };
  }

  /** Removes what a crash left behind. */
  async tidy(): Promise<void> {
    await removeQuietly(this.next);
  }

  /** All or nothing: after a failure the file is the one it was. */
  async save(decisions: Decisions): Promise<void> {
    try {
      await writeDurably(this.next, writeState(decisions));
      await (this.isWhole ? this.keepPrevious() : this.setAside());
      await rename(this.next, this.path);
    } catch (error) {
      await removeQuietly(this.next);
      throw storageFailure(error, this.path);
    }
    await this.settle();
    this.isWhole = true;
  }

  /** A second name for the file, so that there is no moment without one under the first. */
  private async keepPrevious(): Promise<void> {
    await rm(this.previous, { force: true });
    // Not every file system has hard links.
    await link(this.path, this.previous).catch(() => copyFile(this.path, this.previous));
  }

  /** What is damaged is kept for whoever wants to know what happened. */
  private async setAside(): Promise<void> {
    await rename(this.path, `${this.path}.damaged`).catch(() => undefined);
  }

  private async settle(): Promise<void> {
    try {
      await syncDirectory(dirname(this.path));
    } catch (error) {
      const back = this.isWhole ? rename(this.previous, this.path) : rm(this.path);
      await back.catch(() => undefined);
      throw storageFailure(error, this.path);
    }
  }

  private unusable(copy: Copy, previous: Copy): StateError {
    return new StateError(
      this.path,
      `${sayWhat(copy)}, and of ${this.previous}, ${sayWhat(previous)}`,
      'Put one of the two back from a backup, or remove both to start without any admin decisions.',
    );
  }
}

const isGood = (copy: Copy): copy is { decisions: Decisions } => copy !== 'absent' && 'decisions' in copy;

function sayWhat(copy: Copy): string {
  if (copy === 'absent') return 'it is missing';
  return 'damage' in copy ? copy.damage : 'it is whole';
}

async function read(path: string): Promise<Copy> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw new StateError(path, `it cannot be read (${errnoOf(error)})`, 'Check its owner and mode.', {
      cause: error,
    });
  });
  if (text === undefined) return 'absent';
  const reading = readState(text);
  if (!('newerVersion' in reading)) return reading;
  throw new StateError(
    path,
    `it was written by a later Gatehouse (schema ${reading.newerVersion})`,
    'Start that version again, or put back a backup from before it.',
  );
}
