import { execFile, type ChildProcess } from 'node:child_process';
import { MAIN, NODE } from './program.js';

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Parsed stdout. */
  readonly json: Record<string, never>;
}

export interface Running {
  readonly child: ChildProcess;
  readonly done: Promise<Run>;
}

const TIMEOUT_MS = 50_000;

/** Runs the command line with only PATH, HOME and the given variables in its environment. */
export function launch(args: readonly string[], env: NodeJS.ProcessEnv = {}, input = ''): Running {
  const { PATH, HOME } = process.env;
  let child!: ChildProcess;
  const done = new Promise<Run>((resolve) => {
    child = execFile(
      NODE,
      [MAIN, ...args],
      { env: { PATH, HOME, ...env }, timeout: TIMEOUT_MS },
      (error, stdout, stderr) =>
        resolve({
          code: error === null ? 0 : Number(error.code ?? -1),
          stdout,
          stderr,
          get json() {
            return JSON.parse(stdout) as Record<string, never>;
          },
        }),
    );
  });
  child.stdin!.end(input);
  return { child, done };
}
