/** The heading of a chapter about one alert. */
const HEADING = /^### (Gatehouse\w+)$/m;

/** The chapters of the manual whose titles are names of alerts, as a map from the name to the text of the chapter. */
export function runbooksIn(manual: string): ReadonlyMap<string, string> {
  // The pattern captures the name of the alert, so names and the texts below them alternate in the result of `split`.
  const [, ...namesAndTexts] = manual.split(HEADING);
  const chapters = new Map<string, string>();
  for (let index = 0; index < namesAndTexts.length; index += 2) {
    const [name, textAndRest] = [namesAndTexts[index]!, namesAndTexts[index + 1]!];
    const [text] = textAndRest.split(/^#/m, 1);
    chapters.set(name, text!.trim());
  }
  return chapters;
}

/** The manual is loaded on demand, because only the routes of the runbooks need it. */
export const loadRunbooks = async (): Promise<ReadonlyMap<string, string>> =>
  runbooksIn((await import('../../../docs/operations.md')).default);
