const withStatus = (checks, ...statuses) => checks.filter(({ status }) => statuses.includes(status));
const NOTHING = { checks: [] };

/** What a scenario found: `not applicable` if the suite checked nothing and says why in an INFO. */
export function verdictOf(result) {
  if (!result || result.checks.length === 0 || (result.exitCode ?? 0) !== 0) return 'failed';
  if (withStatus(result.checks, 'FAILURE', 'WARNING').length > 0) return 'failed';
  return withStatus(result.checks, 'SUCCESS').length > 0 ? 'passed' : 'not applicable';
}

/** What the server answered, where the check says it: some checks succeed with any error. */
function answerOf({ details }) {
  if (details?.error) return 'error';
  return details?.result && (details.result.resultType ?? 'complete');
}

/** Takes the first check of the same id and name that `accepts` from `checks`. */
function take(checks, wanted, accepts) {
  const index = checks.findIndex(
    (check) => check.id === wanted.id && check.name === wanted.name && accepts(check),
  );
  return index < 0 ? undefined : checks.splice(index, 1)[0];
}

/**
 * The ids of the checks in which a result is weaker than the direct one. A check that succeeds directly must succeed as often,
 * with the same kind of answer. An INFO of the suite is no success, but says that the check does not apply: the gateway may
 * answer in JSON where the fixture opens an event stream.
 */
export function differences(result = NOTHING, direct = NOTHING) {
  const found = [...result.checks];
  const lost = withStatus(direct.checks, 'SUCCESS').filter((wanted) => {
    const equal = ({ status, ...check }) =>
      status === 'INFO' || (status === 'SUCCESS' && answerOf(check) === answerOf(wanted));
    return !take(found, wanted, equal);
  });
  const bad = ['FAILURE', 'WARNING'];
  const failing = withStatus(direct.checks, ...bad);
  const broken = withStatus(found, ...bad).filter((check) => !take(failing, check, () => true));
  const ids = [...lost, ...broken].map(({ id }) => id);
  if ((result.exitCode ?? 0) !== 0 && verdictOf(direct) === 'passed') ids.push('exit code');
  return [...new Set(ids)];
}

const isSame = (ids, others) => ids.length === others.length && ids.every((id) => others.includes(id));

/**
 * Counts the scenarios of a lane by verdict. A lane through the gateway is compared with the direct lane of the same role and
 * revision. `known` has the checks that are expected to differ, by scenario: these and no others.
 */
export function judge({ required, reported }, results, direct = results, known = {}) {
  const differing = (scenario) => differences(results.get(scenario), direct.get(scenario));
  const isExpected = (scenario) => isSame(differing(scenario), known[scenario]?.checks ?? []);
  const passes = (scenario) =>
    verdictOf(results.get(scenario)) === 'passed' && differing(scenario).length === 0;
  const isKnown = (scenario) => known[scenario] !== undefined;
  const failed = [
    ...required.filter((scenario) => (isKnown(scenario) ? !isExpected(scenario) : !passes(scenario))),
    ...reported.filter((scenario) => !isExpected(scenario)),
    ...Object.keys(known).filter((scenario) => ![...required, ...reported].includes(scenario)),
  ];
  return {
    passed: required.filter(passes),
    failed,
    reported: reported.filter(passes),
    known: required.filter((scenario) => isKnown(scenario) && isExpected(scenario)),
  };
}

/** The checks of a scenario that failed, and the output of the suite if these do not say it all. */
export function explain(result, direct) {
  if (!result) return 'the suite did not run it';
  const lines = withStatus(result.checks, 'FAILURE', 'WARNING').map(
    ({ id, status, description, errorMessage, details }) =>
      `${status} ${id}: ${errorMessage ?? description}\n${JSON.stringify(details ?? {}, null, 2)}`,
  );
  const weaker = direct ? differences(result, direct) : [];
  if (weaker.length > 0) lines.unshift(`differs from the direct lane in ${weaker.join(', ')}`);
  if (lines.length === 0 || result.exitCode !== undefined) lines.push(result.output);
  return lines.join('\n');
}
