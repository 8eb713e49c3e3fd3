import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  checkFaults,
  select,
  Suite,
  type Column,
  type Row,
  type RowResult,
  type SuiteOptions,
  type SuiteSdk,
} from './suite.mjs';

const ROWS: readonly Row[] = [
  { title: 'calls' },
  { title: 'restart', gateway: true },
  { title: 'events of servers' },
];

interface FakeSdk extends SuiteSdk {
  readonly isInstalled: boolean;
}

const sdk = (id: string, given: Partial<FakeSdk> = {}): FakeSdk => ({
  id,
  title: id.toUpperCase(),
  toolchain: [`${id}c`, '--version'],
  install: () => undefined,
  isInstalled: true,
  ...given,
});

const clientOf = ({ id }: SuiteSdk): Column => ({ id, role: 'client', rows: ROWS, applies: () => true });

const cellsOf = ({ cells }: Suite<FakeSdk>): string[] => [...cells.values()];

const failToInstall = (): never => {
  throw new Error('no network');
};

describe('Suite', () => {
  /** By column and row: rows that fail through the gateway, without it, and that the column never runs. */
  let failing: Set<string>;
  let failingDirectly: Set<string>;
  let notRun: Set<string>;
  let log: string[];
  let faults: Record<string, Record<string, { why: string; row?: string }>>;
  let columnsOf: (sdk: SuiteSdk) => Column[];

  beforeEach(() => {
    failing = new Set();
    failingDirectly = new Set();
    notRun = new Set();
    log = [];
    faults = {};
    columnsOf = (one) => [clientOf(one)];
  });

  async function run(sdks: FakeSdk[], options: SuiteOptions = {}): Promise<Suite<FakeSdk>> {
    const suite = new Suite<FakeSdk>(options, {
      isInstalled: (one) => Promise.resolve(one.isInstalled),
      columnsOf,
      runColumn: async ({ id }, rows, { isDirect, report }) => {
        const results: RowResult[] = [];
        for (const row of rows) {
          const name = `${id} ${row.title}`;
          if (notRun.has(name)) continue;
          const error = (isDirect ? failingDirectly : failing).has(name) ? new Error('broken') : undefined;
          results.push({ row, ms: 1, error });
          await report({ row, ms: 1, error });
        }
        return results;
      },
      faults,
      log: (line) => log.push(line),
    });
    await suite.run(sdks);
    return suite;
  }

  it('succeeds when every row passes', async () => {
    const suite = await run([sdk('go'), sdk('rust')]);
    expect(suite).toMatchObject({ counts: { passed: 6, failed: 0, skipped: 0 }, hasSucceeded: true });
    expect([...suite.cells.keys()].slice(0, 2)).toEqual(['go client calls', 'go client restart']);
  });

  it('fails when a row fails, and prints why', async () => {
    failing.add('go calls');
    const suite = await run([sdk('go')]);
    expect(suite).toMatchObject({ counts: { passed: 2, failed: 1 }, hasSucceeded: false });
    expect(log).toContainEqual(expect.stringContaining('broken'));
  });

  it('counts a row that did not run as failed', async () => {
    notRun.add('go restart');
    const suite = await run([sdk('go')]);
    expect(cellsOf(suite)).toEqual(['pass', 'not run', 'pass']);
    expect(suite).toMatchObject({ counts: { passed: 2, failed: 1 }, hasSucceeded: false });
  });

  it('counts all rows of a column as failed that cannot be started', async () => {
    const suite = new Suite<FakeSdk>(
      {},
      {
        isInstalled: () => Promise.resolve(true),
        columnsOf: (one) => [clientOf(one)],
        runColumn: () => Promise.reject(new Error('no port')),
        faults,
        log: (line) => log.push(line),
      },
    );
    await suite.run([sdk('go')]);
    expect(cellsOf(suite)).toEqual(['FAIL', 'FAIL', 'FAIL']);
  });

  it.each([
    ['skips', false, { passed: 3, failed: 0, skipped: 3 }],
    ['fails', true, { passed: 3, failed: 3, skipped: 0 }],
  ])(
    '%s the rows of an SDK whose toolchain is missing if required is %j',
    async (_does, required, counts) => {
      const suite = await run([sdk('go'), sdk('rust', { isInstalled: false })], { required });
      expect(suite).toMatchObject({ counts, hasSucceeded: !required });
      expect(log).toContainEqual(expect.stringMatching(/^RUST: (skip|FAIL), rustc is not installed$/));
    },
  );

  it('fails when every row is skipped', async () => {
    expect((await run([sdk('go', { isInstalled: false })])).hasSucceeded).toBe(false);
  });

  it('fails when no row has the title that was asked for', async () => {
    expect((await run([sdk('go')], { rows: 'tasks' })).hasSucceeded).toBe(false);
  });

  it('fails the rows of an SDK that cannot be installed, and runs the others', async () => {
    const suite = await run([sdk('go', { install: failToInstall }), sdk('rust')]);
    expect(suite.counts).toEqual({ passed: 3, failed: 3, skipped: 0 });
    expect(log).toContain('GO: FAIL, cannot be installed: no network');
  });

  it.each([
    ['fails without the gateway too', ['go calls'], 'sdk'],
    ['passes without the gateway', [], 'FAIL'],
  ])('has the right cell for a known fault that %s', async (_case, direct, cell) => {
    faults['go'] = { calls: { why: 'the client cannot' } };
    failing.add('go calls');
    failingDirectly = new Set(direct);
    const suite = await run([sdk('go')]);
    expect(cellsOf(suite)).toEqual([cell, 'pass', 'pass']);
    expect(suite.counts.passed).toBe(2);
  });

  it('shows a fault with the row that the fault names, if its own row needs the gateway', async () => {
    faults['go'] = { restart: { why: 'the client cannot', row: 'calls' } };
    failing.add('go restart');
    failingDirectly.add('go calls');
    expect(cellsOf(await run([sdk('go')]))).toEqual(['pass', 'sdk', 'pass']);
  });

  it('runs no row without the gateway that needs it', async () => {
    const suite = await run([sdk('go')], { direct: true });
    expect([...suite.cells.keys()]).toEqual(['go client calls', 'go client events of servers']);
  });

  it.each([
    [false, 6],
    [true, 2],
  ])('runs a column that needs the gateway unless it is left out (%j)', async (direct, cells) => {
    columnsOf = (one) => [clientOf(one), { ...clientOf(one), id: `${one.id}/stdio`, gateway: true }];
    expect((await run([sdk('go')], { direct })).cells.size).toBe(cells);
  });

  it('runs the columns of one role', async () => {
    columnsOf = (one) => [clientOf(one), { ...clientOf(one), role: 'client-2026' }];
    const suite = await run([sdk('go')], { role: 'client-2026' });
    expect(suite.columns.map(({ role }) => role)).toEqual(['client-2026']);
  });
});

describe('select', () => {
  it('returns the SDKs with the ids, and fails for an unknown one', () => {
    const sdks = [sdk('go'), sdk('rust')];
    expect(select(sdks, undefined)).toEqual(sdks);
    expect(select(sdks, ['rust'])).toEqual([sdks[1]]);
    expect(() => select(sdks, ['golang'])).toThrow('unknown SDK golang');
  });
});

describe('checkFaults', () => {
  const columns = [clientOf(sdk('go'))];
  const why = 'the client cannot';

  it('accepts faults of rows that exist', () => {
    expect(() =>
      checkFaults({ go: { calls: { why, column: 'go', row: 'restart' } } }, columns),
    ).not.toThrow();
  });

  it.each([
    ['of an unknown column', { golang: { calls: { why } } }],
    ['of an unknown row', { go: { tasks: { why } } }],
    ['shown by an unknown column', { go: { calls: { why, column: 'golang' } } }],
    ['shown by an unknown row', { go: { calls: { why, row: 'tasks' } } }],
  ])('refuses a fault %s', (_case, faults) => {
    expect(() => checkFaults(faults, columns)).toThrow('no such cell');
  });
});
