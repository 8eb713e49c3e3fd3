/**
 * Returns whether something that `npm ci` does not install is present, so that its tests can run. If it is missing, prints
 * that they are skipped. In CI, throws, so that the run fails.
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
