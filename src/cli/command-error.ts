import { ConfigError } from '../config/config-error.js';
import { StartError } from '../config/start-error.js';
import { StateError } from '../state/state-error.js';
import { GatewayProblem, type GatewayProblemKind } from '../client/gateway-problem.js';
import { printableLines } from '../client/printable.js';

/** A failure that is not a defect of this program. Its message is printed without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** The user pressed Ctrl-C. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
}

/** Exit codes, on which scripts rely. They are documented in the help and in docs/cli.md. */
export const EXIT_CODES = {
  failed: 1,
  wrongUsage: 2,
  notReachable: 3,
  notAllowed: 4,
  interrupted: 130,
} as const;

const PROBLEM_EXIT_CODES: Readonly<Record<GatewayProblemKind, number>> = {
  unreachable: EXIT_CODES.notReachable,
  'not-allowed': EXIT_CODES.notAllowed,
  'not-found': EXIT_CODES.failed,
  refused: EXIT_CODES.failed,
};

/** Ends the process with a message on stderr and the exit code of the error. */
export function exitWithError(error: unknown): never {
  if (!(error instanceof InterruptedError))
    process.stderr.write(`gatehouse: ${printableLines(describe(error)).join('\n')}\n`);
  process.exit(exitCode(error));
}

const isWrongInput = (error: unknown): boolean =>
  error instanceof ConfigError || error instanceof StateError || error instanceof RangeError;

function exitCode(error: unknown): number {
  if (error instanceof InterruptedError) return EXIT_CODES.interrupted;
  if (error instanceof GatewayProblem) return PROBLEM_EXIT_CODES[error.kind];
  return isWrongInput(error) ? EXIT_CODES.wrongUsage : EXIT_CODES.failed;
}

/** The text to print. An unexpected error is a defect of this program and is printed with its stack. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isExpected =
    isWrongInput(error) ||
    error instanceof CommandError ||
    error instanceof GatewayProblem ||
    error instanceof StartError;
  return isExpected ? error.message : (error.stack ?? error.message);
}
