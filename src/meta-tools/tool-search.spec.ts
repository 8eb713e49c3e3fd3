import { describe, expect, it } from '@jest/globals';
import { MetaToolHarness } from '../../test/kit/meta-tool-harness.js';
import { only } from '../../test/kit/offers.js';
import { EVERYTHING, type Scope } from '../core/scope.js';

const search = async (stage: MetaToolHarness, query: string, scope: Scope = EVERYTHING, limit = 10) =>
  (await stage.toolSearch.search(query, scope, limit)).map(({ publicName }) => publicName);

describe('ToolSearch', () => {
  it.each([
    ['public name', 'fs read'],
    ['title', 'headline'],
    ['description', 'describes'],
  ])('finds a tool by words in its %s', async (_what, query) => {
    const stage = new MetaToolHarness();
    await stage.put('fs', { tools: [{ name: 'read', title: 'Headline', description: 'describes it' }] });
    await stage.put('db', { tools: [{ name: 'other' }] });
    expect(await search(stage, query)).toEqual(['fs__read']);
  });

  it('returns nothing out of scope and at most `limit` results', async () => {
    const stage = new MetaToolHarness();
    for (const id of ['a', 'b']) await stage.put(id, { tools: [{ name: 'read' }, { name: 'read_all' }] });
    expect(await search(stage, 'read', only('b'))).toEqual(['b__read', 'b__read_all']);
    expect(await search(stage, 'read', only())).toEqual([]);
    expect(await search(stage, 'read', EVERYTHING, 3)).toHaveLength(3);
  });

  it('does not find meta tools', async () => {
    const stage = new MetaToolHarness();
    expect(await search(stage, 'search tools catalog describe')).toEqual([]);
  });

  it('follows every change, also those during an update of the index', async () => {
    const stage = new MetaToolHarness();
    await stage.put('a', { tools: [{ name: 'read', description: 'old' }, { name: 'write' }] });
    expect(await search(stage, 'old')).toEqual(['a__read']);
    const meanwhile = search(stage, 'new');
    await stage.put('a', { tools: [{ name: 'read', description: 'new' }] });
    await stage.put('b', { tools: [{ name: 'read', description: 'new' }] });
    expect(await search(stage, 'new')).toEqual(['a__read', 'b__read']);
    expect(await search(stage, 'old')).toEqual([]);
    expect(await search(stage, 'write')).toEqual([]);
    await meanwhile;
    stage.registry.remove('a');
    expect(await search(stage, 'new')).toEqual(['b__read']);
  });
});
