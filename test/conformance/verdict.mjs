const withStatus = (checks, ...statuses) => checks.filter(({ status }) => statuses.includes(status));
const idsWith = ({ checks }, ...statuses) => new Set(withStatus(checks, ...statuses).map(({ id }) => id));

/** What a scenario found: `not applicable` if the suite checked nothing and says why in an INFO. */
export function verdictOf(result) {
  if (!result || result.checks.length === 0 || (result.exitCode ?? 0) !== 0) return 'failed';
  if (withStatus(result.checks, 'FAILURE', 'WARNING').length > 0) return 'failed';
  return idsWith(result, 'SUCCESS').size > 0 ? 'passed' : 'not applicable';
}

/**
 * Whether a check that succeeds directly does not succeed through the gateway. An INFO of the suite is no success, but says
 * that the check does not apply: the gateway may answer in JSON where the fixture opens an event stream.
 */
function isWeaker(result, direct) {
  const verdict = verdictOf(result);
  if (verdict !== 'passed') return verdict === 'failed' && verdictOf(direct) === 'passed';
  const found = idsWith(result, 'SUCCESS', 'INFO');
  return [...idsWith(direct ?? { checks: [] }, 'SUCCESS')].some((id) => !found.has(id));
}

/** Counts the scenarios of a lane by verdict. A lane through the gateway is compared with the direct lane of the same role. */
export function judge({ required, reported }, results, direct = results) {
  const isGood = (scenario) => !isWeaker(results.get(scenario), direct.get(scenario));
  const passes = (scenario) => verdictOf(results.get(scenario)) === 'passed' && isGood(scenario);
  const passed = required.filter(passes);
  const failed = [
    ...required.filter((scenario) => !passes(scenario)),
    ...reported.filter((scenario) => !isGood(scenario)),
  ];
  return { passed, failed, reported: reported.filter(passes) };
}

/** The checks of a scenario that failed, and the output of the suite if these do not say it all. */
export function explain(result) {
  if (!result) return 'the suite did not run it';
  const lines = withStatus(result.checks, 'FAILURE', 'WARNING').map(
    ({ id, status, description, errorMessage, details }) =>
      `${status} ${id}: ${errorMessage ?? description}\n${JSON.stringify(details ?? {}, null, 2)}`,
  );
  if (lines.length === 0 || result.exitCode !== undefined) lines.push(result.output);
  return lines.join('\n');
}
