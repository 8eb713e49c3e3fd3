import { DirectoryLock } from '../../src/state/directory-lock.js';
import { FileDecisionStore } from '../../src/state/file-decision-store.js';
import { onCleanup } from './cleanup.js';

export interface OpenState {
  readonly state: FileDecisionStore;
  readonly lock: DirectoryLock;
  /** Every warning and error, as text. */
  readonly said: string[];
  /** What a gateway does when it stops. It also happens after the test. */
  readonly end: () => Promise<void>;
}

/** The state of a directory, opened as a gateway opens it. */
export async function openState(directory: string): Promise<OpenState> {
  const said: string[] = [];
  const write = (entry: unknown): void => void said.push(JSON.stringify(entry));
  const lock = new DirectoryLock(directory);
  onCleanup(() => lock.release());
  const state = await FileDecisionStore.open(directory, lock, { warn: write, error: write });
  const end = async (): Promise<void> => {
    await state.close();
    await lock.release();
  };
  return { state, lock, said, end };
}
