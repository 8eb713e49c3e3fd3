import * as fc from 'fast-check';
import type { Definition } from '../../src/core/naming/catalog-entry.js';
import type { ResourceDirectory } from '../../src/core/resources/resource-directory.js';
import { ResourceList } from '../../src/core/resources/resource-list.js';
import type { ResourceOffer } from '../../src/core/resources/conflicts/resource-conflicts.js';
import { ResourceDirectoryBuilder } from '../../src/core/resources/resource-directory-builder.js';
import { parseTemplates } from '../../src/core/resources/resource-template.js';
import {
  distinctId,
  resourceForm,
  underscoreId,
  type ResourceAddress,
  type ResourceStyle,
} from '../../src/core/resources/resource-uri.js';
import type { PublicResource } from '../../src/core/resources/public-resource.js';
import { EVERYTHING, type Scope } from '../../src/core/scope.js';
import { runSteps } from './run-steps.js';

/** A generated offer. The generators have few names, so that conflicts are frequent. */
export interface Offered {
  readonly server: string;
  readonly uris: readonly string[];
  readonly templates: readonly string[];
}

export const STYLES: readonly ResourceStyle[] = ['resource', 'underscore', 'original'];

/** A `Yield` for jobs that run in one slice. */
export const neverYield = (): undefined => undefined;

export const resource = (uri: string, more: object = {}): Definition => ({
  name: uri,
  text: JSON.stringify({ uri, name: `the one at ${uri}`, ...more }),
});

export const template = (uriTemplate: string): Definition => ({
  name: uriTemplate,
  text: JSON.stringify({ uriTemplate, name: `any of ${uriTemplate}` }),
});

export const listOf = (server: string, ...uris: string[]): Promise<ResourceList> =>
  ResourceList.build(
    server,
    uris.map((uri) => resource(uri)),
    neverYield,
  );

export async function offerOf(
  server: string,
  uris: readonly string[],
  templates: readonly string[] = [],
): Promise<ResourceOffer> {
  const read = await parseTemplates(server, templates.map(template), neverYield);
  return { server, rank: 0, resources: await listOf(server, ...uris), templates: read.templates };
}

export const offersOf = (offered: readonly Offered[]): Promise<ResourceOffer[]> =>
  Promise.all(offered.map(({ server, uris, templates }) => offerOf(server, uris, templates)));

/** For each directory, its builder and the servers in it. */
const builders = new WeakMap<
  ResourceDirectory,
  { builder: ResourceDirectoryBuilder; servers: readonly string[] }
>();

/** The directory of these offers. With `previous`, it is built incrementally from that one, the latest of its builder. */
export function buildDirectory(
  offers: readonly ResourceOffer[],
  style: ResourceStyle,
  previous?: ResourceDirectory,
): ResourceDirectory {
  const { builder, servers: known } = (previous && builders.get(previous)) ?? {
    builder: new ResourceDirectoryBuilder(style),
    servers: [],
  };
  const now = offers.map(({ server }) => server);
  for (const server of known) if (!now.includes(server)) runSteps(builder.remove(server));
  offers.forEach((offer, rank) => runSteps(builder.put({ ...offer, rank })));
  builders.set(builder.directory, { builder, servers: now });
  return builder.directory;
}

/** Some ids begin with another id and the separator of underscore identifiers. */
export const SERVERS = ['a', 'a_b', 'a_b_c', 'b', 'ab'];
export const servers = fc.constantFrom('a', 'a_b', ...SERVERS);

const plainUris = fc.constantFrom(
  'x:1',
  'x:/1',
  'x:2',
  'x:é',
  'x:ü',
  // On `a`, it has the underscore identifier that `c:r` has on `a_b`.
  'b+c:r',
  'c:r',
  // On `a`, it has the underscore identifier that `r` has on `a_b`.
  'b:?r',
  'r',
  'ui://x',
  'ui://b/x',
  'x:{y}',
);

/** Some equal a public URI or identifier of another resource. */
export const uris: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: plainUris },
  ...[resourceForm, underscoreId, distinctId].map((nameOf) =>
    fc.record({ server: servers, uri: plainUris }).map((address) => nameOf(address)),
  ),
  fc
    .tuple(servers, servers, plainUris)
    .map(([one, other, uri]) => resourceForm({ server: one, uri: resourceForm({ server: other, uri }) })),
);

export const templates = fc.constantFrom(
  'x:{y}',
  'x:/{y}',
  'x:{y}/{z}',
  'x:1{?q}',
  '{+any}',
  '{scheme}:1',
  'b+c:{z}',
  'c:{z}',
  'ui://{v}',
  'a_{id}',
  'a_x___{y}',
  'resource://a/{+rest}',
  'resource://a/x:{y}',
  'resource://{s}/{+rest}',
);

export const offered: fc.Arbitrary<Offered[]> = fc.uniqueArray(
  fc.record({
    server: servers,
    uris: fc.array(uris, { minLength: 1, maxLength: 12 }),
    templates: fc.array(templates, { maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 4, selector: ({ server }) => server },
);

/** All resources in the list of a scope. */
export const seenIn = (directory: ResourceDirectory, scope: Scope = EVERYTHING): PublicResource[] => [
  ...directory.view(scope).after('', Infinity),
];

export const addressOf = (found: ResourceAddress | undefined): string | undefined =>
  found && `${found.server} ${found.uri}`;
