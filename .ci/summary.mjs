// Adds up the reports of the test steps: tests of jest, scenarios of the conformance suite and cells of the interoperability
// suite. A step without a report fails.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const [directory] = process.argv.slice(2);

function read(step) {
  try {
    return JSON.parse(readFileSync(join(directory, `${step}.json`), 'utf8'));
  } catch {
    console.error(`${step}: no report`);
    process.exitCode = 1;
    return undefined;
  }
}

const jest = (step) => {
  const report = read(step);
  return report
    ? { passed: report.numPassedTests, failed: report.numFailedTests, skipped: report.numPendingTests }
    : { failed: 1 };
};
const steps = {
  'npm test': jest('jest'),
  'npm run test:long': jest('long'),
  'npm run test:node24': jest('node24'),
  'npm run conformance': read('conformance') ?? { failed: 1 },
  'npm run interop': read('interop') ?? { failed: 1 },
};
const line = ({ passed = 0, failed = 0, skipped = 0 }) =>
  `${passed} passed, ${failed} failed` + (skipped > 0 ? `, ${skipped} skipped` : '');
const sum = (member) => Object.values(steps).reduce((total, step) => total + (step[member] ?? 0), 0);

for (const [command, step] of Object.entries(steps)) console.log(`${command}: ${line(step)}`);
console.log(line({ passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') }));
