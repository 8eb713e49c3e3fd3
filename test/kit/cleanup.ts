import { afterAll, afterEach, beforeEach } from '@jest/globals';

type Cleanup = () => unknown;

const fileCleanups: Cleanup[] = [];
const testCleanups: Cleanup[] = [];
let inTest = false;

/** Registers a function that runs at the end of the test, or of the file if not called in a test. A failure does not stop it. */
export function onCleanup(cleanup: Cleanup): void {
  (inTest ? testCleanups : fileCleanups).push(cleanup);
}

/** Runs and removes all functions, the last one first. If one fails, the others still run. */
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
