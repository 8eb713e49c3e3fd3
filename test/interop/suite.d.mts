export interface SuiteSdk {
  readonly id: string;
  readonly title: string;
  /** A command that succeeds where the toolchain is installed. */
  readonly toolchain: readonly string[];
  install(): unknown;
}

export interface Row {
  readonly title: string;
  /** The row needs the gateway. */
  readonly gateway?: boolean;
}

export interface Column {
  readonly id: string;
  readonly role: 'client' | 'client-2026' | 'server';
  /** The column needs the gateway. */
  readonly gateway?: boolean;
  readonly rows: readonly Row[];
  applies(row: Row): boolean;
}

export interface RowResult {
  readonly row: Row;
  readonly ms: number;
  readonly error?: Error | undefined;
}

export interface Fault {
  readonly why: string;
  /** The column and row that show the fault without the gateway; the failed ones unless given. */
  readonly column?: string;
  readonly row?: string;
}

export interface SuiteOptions {
  readonly required?: boolean;
  readonly direct?: boolean;
  readonly role?: string;
  readonly rows?: string;
}

export interface SuiteParts<Sdk extends SuiteSdk> {
  isInstalled(sdk: Sdk): Promise<boolean>;
  columnsOf(sdk: Sdk): readonly Column[];
  runColumn(
    column: Column,
    rows: readonly Row[],
    options: { readonly isDirect?: boolean | undefined; readonly report: (result: RowResult) => unknown },
  ): Promise<RowResult[]>;
  readonly faults: Readonly<Record<string, Readonly<Record<string, Fault>>>>;
  log(line: string): void;
}

export class Suite<Sdk extends SuiteSdk> {
  constructor(options: SuiteOptions, parts: SuiteParts<Sdk>);
  readonly columns: readonly Column[];
  readonly cells: ReadonlyMap<string, string>;
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number };
  readonly hasSucceeded: boolean;
  run(sdks: readonly Sdk[]): Promise<void>;
}

export function select<Sdk extends { readonly id: string }>(
  sdks: readonly Sdk[],
  ids: readonly string[] | undefined,
): Sdk[];

export function checkFaults(faults: SuiteParts<SuiteSdk>['faults'], columns: readonly Column[]): void;
