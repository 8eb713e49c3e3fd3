import { afterAll, afterEach, beforeEach } from '@jest/globals';

type Cleanup = () => unknown;

const fileCleanups: Cleanup[] = [];
const testCleanups: Cleanup[] = [];
let inTest = false;

/** Runs at the end of the test, or of the file when called in `beforeAll`; also when the test fails. */
export function onCleanup(cleanup: Cleanup): void {
  (inTest ? testCleanups : fileCleanups).push(cleanup);
}

/** Runs and removes all of them, the last one first. A failure does not stop the others. */
async function runAll(cleanups: Cleanup[]): Promise<void> {
  const failures: unknown[] = [];
  for (let cleanup = cleanups.pop(); cleanup; cleanup = cleanups.pop()) {
    try {
      await cleanup();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'cleanup failed');
}

beforeEach(() => {
  inTest = true;
});

afterEach(async () => {
  inTest = false;
  await runAll(testCleanups);
});

afterAll(() => runAll(fileCleanups));
