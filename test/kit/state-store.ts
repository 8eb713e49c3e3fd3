import { DirectoryLock } from '../../src/state/directory-lock.js';
import { FileDecisionStore } from '../../src/state/file-decision-store.js';
import { onCleanup } from './cleanup.js';

export interface OpenState {
  readonly state: FileDecisionStore;
  readonly lock: DirectoryLock;
  /** Every warning and error, as text. */
  readonly logged: string[];
  /** What a gateway does when it stops. It also happens after the test. */
  readonly close: () => Promise<void>;
}

/** The state of a directory, opened as a gateway opens it. */
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
