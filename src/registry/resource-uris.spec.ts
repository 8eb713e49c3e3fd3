import { describe, expect, it } from '@jest/globals';
import { only } from '../../test/kit/offers.js';
import { refusalOf } from '../../test/kit/promises.js';
import { addressOf, offerOf } from '../../test/kit/resource-offers.js';
import { Naming } from '../config/naming.js';
import { UNFETCHED_LISTING } from '../core/catalog/catalog.js';
import { RemoteError } from '../core/errors.js';
import type { ResourceStyle } from '../core/resources/resource-uri.js';
import { EVERYTHING, type Scope } from '../core/scope.js';
import { Registry } from './registry.service.js';

const tool = (name: string, meta: object): { name: string; text: string } => ({
  name,
  text: JSON.stringify({ name, _meta: meta }),
});

async function registryWith(style: ResourceStyle = 'resource', disabled: string[] = []): Promise<Registry> {
  const registry = new Registry(Object.assign(new Naming(), { resources: style }));
  const tools = [
    tool('new', { ui: { resourceUri: 'ui://view' } }),
    tool('old', { 'ui/resourceUri': 'ui://older/view' }),
    tool('odd', { ui: null, 'ui/resourceUri': 7 }),
  ];
  for (const id of ['a', 'b']) {
    const listing = { ...UNFETCHED_LISTING, ...(await offerOf(id, [`${id}:1`], [`${id}:t/{x}`])) };
    const disabledTools = new Set(disabled);
    const own = id === 'a' ? tools : [];
    await registry.put({ id, rank: 0, listing: { ...listing, tools: own }, style: 'always', disabledTools });
  }
  return registry;
}

const find = ({ resourceUris }: Registry, text: string, scope: Scope = EVERYTHING): string | undefined =>
  addressOf(resourceUris.find(scope, text));

describe('ResourceUris with a link in a result', () => {
  it.each(['resource', 'underscore', 'original'] as const)(
    'resolves the public URI of a link, in style %s',
    async (style) => {
      const registry = await registryWith(style);
      const publicUriOf = registry.resourceUris.publicUrisFor('a', EVERYTHING);
      for (const uri of ['a:1', 'a:t/5', 'elsewhere:1', 'ui://panel', 'b:1'])
        expect(find(registry, publicUriOf(uri))).toBe(`a ${uri}`);
      expect(find(registry, 'elsewhere:1')).toBeUndefined();
    },
  );

  it('does not resolve a URI that is not linked, belongs to another server, or is out of scope', async () => {
    const registry = await registryWith();
    expect(find(registry, 'resource://a/elsewhere:1')).toBeUndefined();
    const publicUri = registry.resourceUris.publicUrisFor('a', EVERYTHING)('elsewhere:1');
    expect(find(registry, 'resource://b/elsewhere:1')).toBeUndefined();
    expect(find(registry, publicUri, only('b'))).toBeUndefined();
    expect(find(registry, publicUri, only('a'))).toBe('a elsewhere:1');
  });

  it('does not record the requested URI as a link', async () => {
    const registry = await registryWith();
    const publicUri = registry.resourceUris.publicUrisFor('a', EVERYTHING, 'elsewhere:1')('elsewhere:1');
    expect(find(registry, publicUri)).toBeUndefined();
  });

  it('does not resolve a link after its server was removed', async () => {
    const registry = await registryWith();
    const publicUri = registry.resourceUris.publicUrisFor('a', EVERYTHING)('elsewhere:1');
    registry.remove('a');
    expect(find(registry, publicUri)).toBeUndefined();
    registry.resourceUris.publicUrisFor('b', EVERYTHING)('elsewhere:2');
    expect(find(await registryWith(), publicUri)).toBeUndefined();
  });

  it('uses the resource form beyond the lookup limit of a result', async () => {
    const registry = await registryWith('original');
    const publicUriOf = registry.resourceUris.publicUrisFor('a', EVERYTHING);
    for (let n = 0; n < 50; n++) expect(publicUriOf(`a:t/${n}`)).toBe(`a:t/${n}`);
    expect(publicUriOf('a:t/50')).toBe('resource://a/a:t/50');
    expect(publicUriOf('a:t/1')).toBe('a:t/1');
    expect(publicUriOf('a:1')).toBe('a:1');
  });
});

describe('ResourceUris with the user interface of a tool', () => {
  it('resolves a user interface that only the tool names', async () => {
    const registry = await registryWith();
    expect(find(registry, 'ui://a/view')).toBe('a ui://view');
    expect(find(registry, 'ui://a/older/view')).toBe('a ui://older/view');
    expect(find(registry, 'ui://b/view')).toBeUndefined();
    expect(find(registry, 'ui://a/other')).toBeUndefined();
    expect(find(registry, 'ui://a/view', only('b'))).toBeUndefined();
  });

  it('does not resolve the user interface of a disabled tool', async () => {
    const registry = await registryWith('resource', ['new']);
    expect(find(registry, 'ui://a/view')).toBeUndefined();
    expect(find(registry, 'ui://a/older/view')).toBe('a ui://older/view');
  });
});

describe('ResourceUris.throwPublicError', () => {
  it('replaces data.uri of a server error by the public URI, without recording a link', async () => {
    const registry = await registryWith();
    const error = new RemoteError(-32002, 'gone', '{"code":-32002,"message":"gone","data":{"uri":"x:9"}}');
    const thrown = await refusalOf(registry.resourceUris.throwPublicError(error, 'a', EVERYTHING));
    expect(thrown).toMatchObject({
      code: -32002,
      text: '{"code":-32002,"message":"gone","data":{"uri":"resource://a/x:9"}}',
    });
    expect(find(registry, 'resource://a/x:9')).toBeUndefined();
  });
});
