/**
 * Whether a test can run that needs something which `npm ci` does not install. Without it, the test is skipped with a message;
 * in CI this throws instead, so that the run fails.
 */
export function hasPrerequisite(
  name: string,
  isPresent: boolean,
  { env = process.env, note = noteOnStderr } = {},
): boolean {
  if (isPresent) return true;
  if (isCi(env)) throw new Error(`${name} is missing: in CI its tests must run`);
  note(`${name} is missing: its tests are skipped`);
  return false;
}

const isCi = ({ CI = '' }: NodeJS.ProcessEnv): boolean => !['', '0', 'false'].includes(CI);

const noteOnStderr = (text: string): void => void process.stderr.write(`${text}\n`);
