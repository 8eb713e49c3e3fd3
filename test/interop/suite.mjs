/** Columns that run at once; they wait most of the time. */
const PARALLEL = 6;

const NOT_RUN = 'not run';

/**
 * Runs the rows of all columns and counts the cells. A row that has not run is no pass: it is skipped if the toolchain of its
 * SDK is missing and not required, and otherwise it has failed.
 *
 * `options`: `required` (a missing toolchain is a failure), `direct` (without the gateway), `role`, `rows` (part of a title).
 * `parts`: `isInstalled(sdk)`, `columnsOf(sdk)`, `runColumn(column, rows, options)`, `faults` by column and row, `log(line)`.
 */
export class Suite {
  #options;
  #parts;
  /** By `<column> <role> <row>`. */
  cells = new Map();
  columns = [];

  constructor(options, parts) {
    this.#options = options;
    this.#parts = parts;
  }

  async run(sdks) {
    const problems = await Promise.all(sdks.map((sdk) => this.#problemOf(sdk)));
    const queue = [];
    for (const [index, sdk] of sdks.entries())
      for (const column of this.#parts.columnsOf(sdk).filter((one) => this.#isWanted(one))) {
        this.columns.push(column);
        const initial = problems[index] ?? NOT_RUN;
        for (const row of this.#rowsOf(column)) this.#setCell(column, row, initial);
        if (initial === NOT_RUN) queue.push(column);
      }
    // The columns of clients take longest.
    queue.sort((a, b) => Number(a.role === 'server') - Number(b.role === 'server'));
    const worker = async () => {
      for (let column = queue.shift(); column; column = queue.shift()) await this.#runColumn(column);
    };
    await Promise.all(Array.from({ length: PARALLEL }, worker));
  }

  get counts() {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const cell of this.cells.values())
      counts[{ pass: 'passed', skip: 'skipped', sdk: 'skipped' }[cell] ?? 'failed'] += 1;
    return counts;
  }

  /** False also if no row has passed: nothing was tested. */
  get hasSucceeded() {
    return this.counts.failed === 0 && this.counts.passed > 0;
  }

  /** Installs the programs of the SDK. Returns the cell of all its rows if that is not possible. */
  async #problemOf(sdk) {
    const { isInstalled, log } = this.#parts;
    if (!(await isInstalled(sdk))) {
      const cell = this.#options.required ? 'FAIL' : 'skip';
      log(`${sdk.title}: ${cell}, ${sdk.toolchain[0]} is not installed`);
      return cell;
    }
    const started = Date.now();
    try {
      await sdk.install();
    } catch (error) {
      log(`${sdk.title}: FAIL, cannot be installed: ${error.message}`);
      return 'FAIL';
    }
    log(`${sdk.title}: installed (${Date.now() - started} ms)`);
    return undefined;
  }

  #isWanted({ role, gateway }) {
    if (this.#options.role && this.#options.role !== role) return false;
    return !(this.#options.direct && gateway);
  }

  #rowsOf(column) {
    const { rows, direct } = this.#options;
    return column.rows.filter(
      (row) => column.applies(row) && (!rows || row.title.includes(rows)) && !(direct && row.gateway),
    );
  }

  async #runColumn(column) {
    const open = new Set(this.#rowsOf(column));
    const report = (result) => {
      open.delete(result.row);
      return this.#settle(column, result);
    };
    try {
      await this.#parts.runColumn(column, [...open], { isDirect: this.#options.direct, report });
    } catch (error) {
      for (const row of open) await this.#settle(column, { row, ms: 0, error });
    }
  }

  async #settle(column, { row, ms, error }) {
    const { faults, log } = this.#parts;
    const fault = faults[column.id]?.[row.title];
    const isFault =
      error !== undefined && fault !== undefined && (await this.#isShownDirectly(column, row, fault));
    const cell = error === undefined ? 'pass' : isFault ? 'sdk' : 'FAIL';
    this.#setCell(column, row, cell);
    log(`${cell.padEnd(5)}${column.role} ${column.id}: ${row.title} (${ms} ms)`);
    if (isFault) log(`      ${fault.why}`);
    if (cell === 'FAIL') log(`      ${error.message.replaceAll('\n', '\n      ')}`);
  }

  /** Whether the row, or the one that the fault names, fails without the gateway too. */
  async #isShownDirectly(column, row, fault) {
    if (this.#options.direct) return false;
    const shown = this.columns.find(({ id }) => id === (fault.column ?? column.id)) ?? column;
    const rows = shown.rows.filter(({ title }) => title === (fault.row ?? row.title));
    const [result] = await this.#parts.runColumn(shown, rows, { isDirect: true, report: () => undefined });
    return result?.error !== undefined;
  }

  #setCell({ id, role }, { title }, cell) {
    this.cells.set(`${id} ${role} ${title}`, cell);
  }
}

/** The SDKs with these ids. Throws for an unknown one. */
export function select(sdks, ids) {
  const unknown = ids?.filter((id) => !sdks.some((sdk) => sdk.id === id)) ?? [];
  if (unknown.length > 0) throw new Error(`unknown SDK ${unknown.join(', ')}`);
  return sdks.filter(({ id }) => !ids || ids.includes(id));
}

/** Throws if a fault or a gap names a column or a row that does not exist. */
export function checkFaults(faults, columns) {
  const exists = (id, title) =>
    columns.some((column) => column.id === id && column.rows.some((row) => row.title === title));
  for (const [id, rows] of Object.entries(faults))
    for (const [title, { column = id, row = title }] of Object.entries(rows))
      if (!exists(id, title) || !exists(column, row))
        throw new Error(`no such cell: ${id} ${title}, ${column} ${row}`);
}
