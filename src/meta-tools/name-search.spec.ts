import { describe, expect, it } from '@jest/globals';
import { MetaToolHarness } from '../../test/kit/meta-tool-harness.js';
import { only } from '../../test/kit/offers.js';
import { EVERYTHING, type Scope } from '../core/scope.js';

const search = async (harness: MetaToolHarness, query: string, scope: Scope = EVERYTHING, limit = 10) =>
  (await harness.toolSearch.search(query, scope, limit)).map(({ publicName }) => publicName);

describe('ToolSearch', () => {
  it.each([
    ['public name', 'fs read'],
    ['title', 'headline'],
    ['description', 'describes'],
  ])('finds a tool by words in its %s', async (_what, query) => {
    const harness = new MetaToolHarness();
    await harness.put('fs', { tools: [{ name: 'read', title: 'Headline', description: 'describes it' }] });
    await harness.put('db', { tools: [{ name: 'other' }] });
    expect(await search(harness, query)).toEqual(['fs__read']);
  });

  it('returns nothing out of scope and at most `limit` results', async () => {
    const harness = new MetaToolHarness();
    for (const id of ['a', 'b']) await harness.put(id, { tools: [{ name: 'read' }, { name: 'read_all' }] });
    expect(await search(harness, 'read', only('b'))).toEqual(['b__read', 'b__read_all']);
    expect(await search(harness, 'read', only())).toEqual([]);
    expect(await search(harness, 'read', EVERYTHING, 3)).toHaveLength(3);
  });

  it('returns `limit` results when the scope does not list some of the best matches', async () => {
    const harness = new MetaToolHarness();
    for (const id of ['a', 'b'])
      await harness.put(id, { tools: [{ name: 'read' }, { name: `read_${id}` }] }, 'never');
    expect(await search(harness, 'read', EVERYTHING, 2)).toEqual(['read', 'read_a']);
  });

  it('does not find meta tools', async () => {
    const harness = new MetaToolHarness();
    expect(await search(harness, 'search tools catalog describe')).toEqual([]);
  });

  it('follows every change, also those during an update of the index', async () => {
    const harness = new MetaToolHarness();
    await harness.put('a', { tools: [{ name: 'read', description: 'old' }, { name: 'write' }] });
    expect(await search(harness, 'old')).toEqual(['a__read']);
    const meanwhile = search(harness, 'new');
    await harness.put('a', { tools: [{ name: 'read', description: 'new' }] });
    await harness.put('b', { tools: [{ name: 'read', description: 'new' }] });
    expect(await search(harness, 'new')).toEqual(['a__read', 'b__read']);
    expect(await search(harness, 'old')).toEqual([]);
    expect(await search(harness, 'write')).toEqual([]);
    await meanwhile;
    harness.registry.remove('a');
    expect(await search(harness, 'new')).toEqual(['b__read']);
  });
});
