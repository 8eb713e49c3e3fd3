import { ConfigError } from '../config/config-error.js';
import { StateError } from '../state/state-error.js';
import { GatewayProblem, type ProblemKind } from '../client/gateway-problem.js';
import { printableLines } from '../client/printable.js';
import { CommandFailed } from './command-failed.js';
import { Interrupted } from './interrupted.js';

/** For scripts. */
export const EXIT = { failed: 1, wrongUsage: 2, notReachable: 3, notAllowed: 4, interrupted: 130 } as const;

const PROBLEMS: Readonly<Record<ProblemKind, number>> = {
  unreachable: EXIT.notReachable,
  'not-allowed': EXIT.notAllowed,
  'not-found': EXIT.failed,
  refused: EXIT.failed,
};

/** Ends the program, with words for people and a code for scripts. */
export function fail(error: unknown): never {
  // Who pressed Ctrl-C knows.
  if (!(error instanceof Interrupted))
    process.stderr.write(`gatehouse: ${printableLines(describe(error)).join('\n')}\n`);
  process.exit(exitCode(error));
}

const isWrongInput = (error: unknown): boolean =>
  error instanceof ConfigError || error instanceof StateError || error instanceof RangeError;

function exitCode(error: unknown): number {
  if (error instanceof Interrupted) return EXIT.interrupted;
  if (error instanceof GatewayProblem) return PROBLEMS[error.kind];
  return isWrongInput(error) ? EXIT.wrongUsage : EXIT.failed;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A stack is for faults of ours.
  const isAnswer = isWrongInput(error) || error instanceof CommandFailed || error instanceof GatewayProblem;
  return isAnswer ? error.message : (error.stack ?? error.message);
}
