export interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED';
}

export interface Result {
  readonly checks: readonly Check[];
  readonly output: string;
  /** Of the suite, if it ran this scenario only. */
  readonly exitCode?: number;
}

export function verdictOf(result?: Result): 'passed' | 'failed' | 'not applicable';

export function judge(
  scenarios: { readonly required: readonly string[]; readonly reported: readonly string[] },
  results: ReadonlyMap<string, Result>,
  direct?: ReadonlyMap<string, Result>,
): { passed: string[]; failed: string[]; reported: string[] };

export function explain(result?: Result): string;
