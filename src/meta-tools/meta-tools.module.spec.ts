import { describe, expect, it } from '@jest/globals';
import { listOf } from '../../test/kit/offers.js';
import { LiveConfig } from '../config/live-config.js';
import { readConfig } from '../config/load-config.js';
import { Naming } from '../config/naming.js';
import { MetaToolRegistry } from '../registry/meta-tool-registry.js';
import { Registry } from '../registry/registry.service.js';
import { RandomCursorKey } from '../state/random-cursor-key.js';
import { MetaToolsModule } from './meta-tools.module.js';
import { ResourceSearch } from './resource-search.js';
import { ToolSearch } from './name-search.js';

/** Number of listed meta tools. */
async function toolsWith(config: object): Promise<number> {
  const live = new LiveConfig(readConfig({ text: JSON.stringify(config), source: 'spec.json', env: {} }));
  const registry = new Registry(new Naming());
  await new MetaToolsModule(
    live,
    registry,
    new MetaToolRegistry(registry),
    new ResourceSearch(registry),
    new ToolSearch(registry),
    new RandomCursorKey(),
  ).onModuleInit();
  return (JSON.parse(listOf(registry.catalog.tools)) as { tools: unknown[] }).tools.length;
}

describe('MetaToolsModule', () => {
  it.each([
    [{}, 7],
    [{ metaTools: true }, 7],
    [{ metaTools: false }, 0],
  ])('with %j registers %i meta tools', async (config, expected) => {
    expect(await toolsWith(config)).toBe(expected);
  });
});
