export interface Check {
  readonly id: string;
  readonly name?: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED';
  readonly details?: { readonly result?: { readonly resultType?: string }; readonly error?: object };
}

export interface Result {
  readonly checks: readonly Check[];
  readonly output: string;
  /** Of the suite, if it ran this scenario only. */
  readonly exitCode?: number;
}

/** Checks of a scenario that differ from the direct lane for a reason. */
export interface KnownDifference {
  readonly checks: readonly string[];
  readonly reason: string;
}

export function verdictOf(result?: Result): 'passed' | 'failed' | 'not applicable';

export function differences(result?: Result, direct?: Result): string[];

export function judge(
  scenarios: { readonly required: readonly string[]; readonly reported: readonly string[] },
  results: ReadonlyMap<string, Result>,
  direct?: ReadonlyMap<string, Result>,
  known?: Readonly<Record<string, KnownDifference>>,
): { passed: string[]; failed: string[]; reported: string[]; known: string[] };

export function explain(result?: Result, direct?: Result): string;
