import { copyFile, link, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NO_DECISIONS } from './decisions.js';
import type { Decisions } from './decision-store.js';
import { removeQuietly, syncDirectory, writeDurably } from './durable-write.js';
import { parseState, serializeState } from './state-document.js';
import { StateError } from './state-error.js';
import { errnoOf, storageFailure } from './storage-failure.js';

type Copy = { readonly decisions: Decisions } | { readonly damage: string } | 'absent';

interface LoadedState {
  readonly decisions: Decisions;
  /** Why the backup was used instead of the file. */
  readonly warning?: string;
}

/**
 * `state.json`, with the previous version as `state.json.bak`. If the process or the machine dies at any moment, one of
 * the two is intact and contains the last saved decisions. Supports one writer at a time.
 */
export class StateFile {
  readonly path: string;
  private readonly previous: string;
  private readonly next: string;
  /** Whether `path` has the content last loaded or saved: a damaged file must not become the backup. */
  private isIntact = false;

  constructor(directory: string) {
    this.path = join(directory, 'state.json');
    this.previous = `${this.path}.bak`;
    this.next = `${this.path}.tmp`;
  }

  /** Reads without changing any file. */
  async load(): Promise<LoadedState> {
    const copy = await read(this.path);
    this.isIntact = isReadable(copy);
    if (isReadable(copy)) return copy;
    const previous = await read(this.previous);
    if (copy === 'absent' && previous === 'absent') return { decisions: NO_DECISIONS };
    if (!isReadable(previous)) throw this.unusable(copy, previous);
    return { ...previous, warning: `${this.path} cannot be used: ${describe(copy)}; using ${this.previous}` };
  }

  /** Removes the temporary file that a crash may have left. */
  async removeTemporary(): Promise<void> {
    await removeQuietly(this.next);
  }

  /** Atomic: after a failure the file has its previous content. */
  async save(decisions: Decisions): Promise<void> {
    try {
      await writeDurably(this.next, serializeState(decisions));
      await (this.isIntact ? this.keepPrevious() : this.setAside());
      await rename(this.next, this.path);
    } catch (error) {
      await removeQuietly(this.next);
      throw storageFailure(error, this.path);
    }
    await this.syncRename();
    this.isIntact = true;
  }

  /** Adds a second name to the file, so that `path` exists at every moment. */
  private async keepPrevious(): Promise<void> {
    await rm(this.previous, { force: true });
    // Some file systems do not support hard links.
    await link(this.path, this.previous).catch(() => copyFile(this.path, this.previous));
  }

  /** Keeps a damaged file for diagnosis. */
  private async setAside(): Promise<void> {
    await rename(this.path, `${this.path}.damaged`).catch(() => undefined);
  }

  private async syncRename(): Promise<void> {
    try {
      await syncDirectory(dirname(this.path));
    } catch (error) {
      const back = this.isIntact ? rename(this.previous, this.path) : rm(this.path);
      await back.catch(() => undefined);
      throw storageFailure(error, this.path);
    }
  }

  private unusable(copy: Copy, previous: Copy): StateError {
    return new StateError(
      this.path,
      `${describe(copy)}, and of ${this.previous}, ${describe(previous)}`,
      'Put one of the two back from a backup, or remove both to start without any admin decisions.',
    );
  }
}

const isReadable = (copy: Copy): copy is { decisions: Decisions } => copy !== 'absent' && 'decisions' in copy;

function describe(copy: Copy): string {
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
  const reading = parseState(text);
  if (!('newerVersion' in reading)) return reading;
  throw new StateError(
    path,
    `it was written by a later Gatehouse (schema ${reading.newerVersion})`,
    'Start that version again, or put back a backup from before it.',
  );
}
