import { DirectoryLock } from '../../src/state/directory-lock.js';
import { FileDecisionStore } from '../../src/state/file-decision-store.js';
import { onCleanup } from './cleanup.js';

export interface OpenState {
  readonly state: FileDecisionStore;
  readonly lock: DirectoryLock;
  /** Every warning and error, as text. */
  readonly logged: string[];
  /** Closes as a gateway does when it stops. */
  readonly close: () => Promise<void>;
}

/** Opens the decision store of a directory as a gateway does. */
export async function openState(directory: string): Promise<OpenState> {
  const logged: string[] = [];
  const write = (entry: unknown): void => void logged.push(JSON.stringify(entry));
  const lock = new DirectoryLock(directory);
  onCleanup(() => lock.release());
  const state = await FileDecisionStore.open(directory, lock, { warn: write, error: write });
  const close = async (): Promise<void> => {
    await state.close();
    await lock.release();
  };
  return { state, lock, logged, close };
}
