import { ConfigError } from '../config/config-error.js';
import { StateError } from '../state/state-error.js';
import { GatewayProblem, type GatewayProblemKind } from '../client/gateway-problem.js';
import { printableLines } from '../client/printable.js';
import { CommandError } from './command-failed.js';
import { InterruptedError } from './interrupted.js';

/** For scripts. */
export const EXIT_CODES = {
  failed: 1,
  wrongUsage: 2,
  notReachable: 3,
  notAllowed: 4,
  interrupted: 130,
} as const;

const PROBLEMS: Readonly<Record<GatewayProblemKind, number>> = {
  unreachable: EXIT_CODES.notReachable,
  'not-allowed': EXIT_CODES.notAllowed,
  'not-found': EXIT_CODES.failed,
  refused: EXIT_CODES.failed,
};

/** Ends the program, with words for people and a code for scripts. */
export function exitWithError(error: unknown): never {
  // Who pressed Ctrl-C knows.
  if (!(error instanceof InterruptedError))
    process.stderr.write(`gatehouse: ${printableLines(describe(error)).join('\n')}\n`);
  process.exit(exitCode(error));
}

const isWrongInput = (error: unknown): boolean =>
  error instanceof ConfigError || error instanceof StateError || error instanceof RangeError;

function exitCode(error: unknown): number {
  if (error instanceof InterruptedError) return EXIT_CODES.interrupted;
  if (error instanceof GatewayProblem) return PROBLEMS[error.kind];
  return isWrongInput(error) ? EXIT_CODES.wrongUsage : EXIT_CODES.failed;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A stack is for faults of ours.
  const isAnswer = isWrongInput(error) || error instanceof CommandError || error instanceof GatewayProblem;
  return isAnswer ? error.message : (error.stack ?? error.message);
}
