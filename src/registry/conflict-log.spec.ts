import { describe, expect, it } from '@jest/globals';
import { offer, tableOf } from '../../test/kit/offers.js';
import { Catalog } from '../core/catalog/catalog.js';
import { NameTable } from '../core/naming/name-table.js';
import { ResourceDirectory } from '../core/resources/resource-directory.js';
import { ConflictLog } from './conflict-log.js';

/** Two servers that have these tools, and one more that only the second has. */
const catalogOf = (...names: string[]): Catalog =>
  new Catalog(
    [],
    tableOf(offer('a', 'never', ...names), offer('b', 'never', ...names, 'own')),
    NameTable.EMPTY,
    ResourceDirectory.EMPTY,
  );

describe('ConflictLog', () => {
  it('logs each new conflict once, up to 20 by name and the others by number', async () => {
    const lines: { readonly name?: string; readonly names?: number }[] = [];
    const log = new ConflictLog({ warn: (line: object) => void lines.push(line) });
    await log.update(catalogOf('x'));
    expect(lines.splice(0)).toEqual([
      {
        message: 'tool or prompt is not listed: its name belongs to another server',
        server: 'b',
        name: 'x',
      },
    ]);
    const names = Array.from({ length: 25 }, (_, n) => `t${n}`);
    await log.update(catalogOf('x', ...names));
    expect(lines.filter(({ name }) => name !== undefined)).toHaveLength(20);
    expect(lines.at(-1)).toMatchObject({ server: 'b', names: 5 });
    lines.length = 0;
    await log.update(catalogOf('x', ...names));
    expect(lines).toEqual([]);
  });

  it('checks only the last catalog of a burst', async () => {
    const lines: object[] = [];
    const log = new ConflictLog({ warn: (line: object) => void lines.push(line) });
    const updates = [catalogOf('x'), catalogOf('y'), catalogOf('z')].map((catalog) => log.update(catalog));
    await Promise.all(updates);
    expect(lines).toMatchObject([{ name: 'x' }, { name: 'z' }]);
  });
});
