import { afterAll, afterEach, beforeEach } from '@jest/globals';

type Act = () => unknown;

const ofTheFile: Act[] = [];
const ofTheTest: Act[] = [];
let inTest = false;

/** Runs at the end of the test, or of the file when called in `beforeAll`; also when the test fails. */
export function onCleanup(act: Act): void {
  (inTest ? ofTheTest : ofTheFile).push(act);
}

/** Runs all in reverse order, also after a failure. */
async function runAll(acts: Act[]): Promise<void> {
  const failures: unknown[] = [];
  for (let act = acts.pop(); act; act = acts.pop()) {
    try {
      await act();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'cleaning up failed');
}

beforeEach(() => {
  inTest = true;
});

afterEach(async () => {
  inTest = false;
  await runAll(ofTheTest);
}, 30_000);

afterAll(() => runAll(ofTheFile), 30_000);
