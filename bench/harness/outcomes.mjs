/** What a message says that is refused because of a limit. */
const REFUSALS = [
  /^Invalid request: the body (?:has more than \d+ members and elements|is nested more than \d+ levels deep)/,
  /the server sent an invalid response: the message (?:has|is nested) more than \d+/,
  /^RESOURCE_NOT_FOUND: /,
];
/** Errors of the servers of this benchmark. */
const SERVER_ERRORS = new Set(['failed', 'Method not found']);

/**
 * Throws when the attack did not run: its outcome is neither an answer of at least `minBytes`, nor an error of the server, nor
 * a refusal because of a limit. Otherwise its stall would say nothing.
 */
export function requireRun(what, outcome, minBytes = 1) {
  const [, answered] = /^(\d+) bytes$/.exec(outcome) ?? [];
  const hasRun =
    answered === undefined ? SERVER_ERRORS.has(outcome) || isRefusal(outcome) : Number(answered) >= minBytes;
  if (!hasRun) throw new Error(`${what}: the attack did not run: ${outcome}`);
}

const isRefusal = (outcome) => REFUSALS.some((refusal) => refusal.test(outcome));
