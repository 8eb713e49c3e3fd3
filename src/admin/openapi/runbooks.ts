const HEADING = /^### (Gatehouse\w+)$/m;

/** By the name of its alert: the text of each chapter of the manual that is titled with one. */
export function runbooksIn(manual: string): ReadonlyMap<string, string> {
  const [, ...parts] = manual.split(HEADING);
  const chapters = new Map<string, string>();
  for (let index = 0; index < parts.length; index += 2)
    chapters.set(parts[index]!, parts[index + 1]!.split(/^#/m, 1)[0]!.trim());
  return chapters;
}

/** Loaded on demand: only these pages need the manual. */
export const loadRunbooks = async (): Promise<ReadonlyMap<string, string>> =>
  runbooksIn((await import('../../../docs/operations.md')).default);
