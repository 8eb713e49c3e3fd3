import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { IdTable } from './id-table.js';

interface Item {
  readonly id: number;
}

const addItem = (table: IdTable<Item>): Item => {
  const item = { id: table.nextId() };
  table.add(item);
  return item;
};

describe('IdTable', () => {
  it('holds the same items as a Map, under ascending ids', () => {
    const first = fc.constantFrom(0, 2 ** 31 - 3, 2 ** 32 - 3, 2 ** 40);
    /** A negative step adds an item, another deletes one. */
    const steps = fc.array(fc.integer({ min: -3, max: 200 }), { maxLength: 600 });
    fc.assert(
      fc.property(first, steps, (lastId, moves) => {
        const table = new IdTable<Item>(lastId);
        const model = new Map<number, Item>();
        const given = [lastId];
        const deleted: boolean[] = [];
        for (const move of moves) {
          const ids = [...model.keys()];
          const id = move < 0 ? undefined : ids[move % (2 * ids.length + 1)];
          if (id === undefined) {
            const item = addItem(table);
            given.push(item.id);
            model.set(item.id, item);
          } else {
            model.delete(id);
            deleted.push(table.delete(id), !table.delete(id));
          }
        }
        expect(given).toEqual([...new Set(given)].toSorted((a, b) => a - b));
        expect(deleted).not.toContain(false);
        expect(table.size).toBe(model.size);
        for (const [id, item] of model) expect(table.get(id)).toBe(item);
        expect(new Set(table)).toEqual(new Set(model.values()));
      }),
    );
  });

  it('finds nothing by a value that is not one of its ids', () => {
    const table = new IdTable<Item>();
    const { id } = addItem(table);
    const hostile = JSON.parse('{"valueOf":1,"toString":1}') as unknown;
    for (const other of [
      id + 64,
      id + 0.5,
      -id,
      NaN,
      String(id),
      [id],
      null,
      undefined,
      hostile,
      Symbol('id'),
    ])
      expect(table.get(other)).toBeUndefined();
  });

  it('does not visit items deleted during an iteration, even if the table grows meanwhile', () => {
    const visits = [0, 500].map((more) => {
      const table = new IdTable<Item>();
      const items = new Set(Array.from({ length: 20 }, () => addItem(table)));
      const visited: Item[] = [];
      for (const item of table) {
        if (!items.has(item)) continue;
        visited.push(item);
        for (const { id } of items) table.delete(id);
        for (let i = 0; i < more; i++) addItem(table);
      }
      return visited.length;
    });
    expect(visits).toEqual([1, 1]);
  });
});
