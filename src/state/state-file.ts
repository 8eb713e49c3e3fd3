import { copyFile, link, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NO_DECISIONS } from './decisions.js';
import type { Decisions } from './decision-store.js';
import { removeQuietly, syncDirectory, writeDurably } from './durable-write.js';
import { parseState, serializeState } from './state-document.js';
import { StateError } from './state-error.js';
import { errnoOf, storageFailure } from './storage-failure.js';

/** Result of reading `state.json` or its backup. */
type StoredState = { readonly decisions: Decisions } | { readonly damage: string } | 'absent';

interface LoadedState {
  readonly decisions: Decisions;
  /** Why the backup was used instead of the file. */
  readonly warning?: string;
}

/**
 * `state.json`, with the previous version as `state.json.bak`. After a crash of the process or the machine at any moment,
 * one of the two is intact and contains the last saved decisions. Supports one writer at a time.
 */
export class StateFile {
  readonly path: string;
  private readonly backupPath: string;
  private readonly temporaryPath: string;
  /** Whether the file was intact at its last read or write. A damaged file must not become the backup. */
  private isIntact = false;

  constructor(directory: string) {
    this.path = join(directory, 'state.json');
    this.backupPath = `${this.path}.bak`;
    this.temporaryPath = `${this.path}.tmp`;
  }

  /** Reads without changing any file. */
  async load(): Promise<LoadedState> {
    const current = await read(this.path);
    this.isIntact = isReadable(current);
    if (isReadable(current)) return current;
    const backup = await read(this.backupPath);
    if (current === 'absent' && backup === 'absent') return { decisions: NO_DECISIONS };
    if (!isReadable(backup)) throw this.unusableError(current, backup);
    return {
      ...backup,
      warning: `${this.path} cannot be used: ${describe(current)}; using ${this.backupPath}`,
    };
  }

  /** Removes the temporary file that a crash may have left. */
  async removeTemporary(): Promise<void> {
    await removeQuietly(this.temporaryPath);
  }

  /** Atomic: after a failure the file has its previous content. */
  async save(decisions: Decisions): Promise<void> {
    try {
      await writeDurably(this.temporaryPath, serializeState(decisions));
      await (this.isIntact ? this.keepBackup() : this.setAside());
      await rename(this.temporaryPath, this.path);
    } catch (error) {
      await removeQuietly(this.temporaryPath);
      throw storageFailure(error, this.path);
    }
    await this.syncRename();
    this.isIntact = true;
  }

  /** Gives the current file the name of the backup as a second name, so that `path` exists at every moment. */
  private async keepBackup(): Promise<void> {
    await rm(this.backupPath, { force: true });
    // Some file systems do not support hard links.
    await link(this.path, this.backupPath).catch(() => copyFile(this.path, this.backupPath));
  }

  /** Renames a damaged file, so that it is kept for diagnosis. */
  private async setAside(): Promise<void> {
    await rename(this.path, `${this.path}.damaged`).catch(() => undefined);
  }

  /** Syncs the renaming to disk. Restores the previous file if this fails. */
  private async syncRename(): Promise<void> {
    try {
      await syncDirectory(dirname(this.path));
    } catch (error) {
      const undo = this.isIntact ? rename(this.backupPath, this.path) : rm(this.path);
      await undo.catch(() => undefined);
      throw storageFailure(error, this.path);
    }
  }

  private unusableError(current: StoredState, backup: StoredState): StateError {
    return new StateError(
      this.path,
      `${describe(current)}, and ${this.backupPath} cannot be used either: ${describe(backup)}`,
      'Restore one of the two files from a backup, or remove both to start without any admin decisions.',
    );
  }
}

const isReadable = (state: StoredState): state is { decisions: Decisions } =>
  state !== 'absent' && 'decisions' in state;

function describe(state: StoredState): string {
  if (state === 'absent') return 'it is missing';
  return 'damage' in state ? state.damage : 'it is intact';
}

async function read(path: string): Promise<StoredState> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw new StateError(path, `it cannot be read (${errnoOf(error)})`, 'Check its owner and mode.', {
      cause: error,
    });
  });
  if (text === undefined) return 'absent';
  const parsed = parseState(text);
  if (!('newerVersion' in parsed)) return parsed;
  throw new StateError(
    path,
    `it was written by a later Gatehouse (schema ${parsed.newerVersion})`,
    'Start that version again, or restore a backup that an earlier version wrote.',
  );
}
