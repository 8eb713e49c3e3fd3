import type { Catalog } from '../core/catalog/catalog.js';
import { RemoteError } from '../core/errors.js';
import { UnlistedLinks } from './unlisted-links.js';
import { withPublicErrorUri, type ToPublicUri } from '../core/resources/public-uris.js';
import { parseResourceForm, resourceForm, type ResourceAddress } from '../core/resources/resource-uri.js';
import { EVERYTHING, type Scope } from '../core/scope.js';
import type { ResolvedResource } from '../core/resources/server-resources.js';
import { runSliced } from '../lib/slices/run-sliced.js';
import { sliceScheduler } from '../lib/slices/slices.js';

/**
 * Maximum lookups of unlisted resources per result: each may compare the URI with every template. Further unlisted resources
 * get the resource form of their URI without a lookup.
 */
const MAX_UNLISTED_LOOKUPS = 50;

/**
 * Translates the URIs in results to public URIs, and resolves the public URIs that clients request. A server need not list
 * all of its resources. Clients can request an unlisted resource if its server has linked it: in an earlier result, or as the
 * user interface of a tool.
 */
export class ResourceUris {
  private readonly unlistedLinks: UnlistedLinks;

  constructor(
    private readonly catalogOf: (scope: Scope) => Catalog,
    onDropped?: () => void,
  ) {
    this.unlistedLinks = new UnlistedLinks(undefined, undefined, onDropped);
  }

  /**
   * Returns a function that maps the server's own URIs in one of its results to public URIs of the scope, and records unlisted
   * resources as linked. For the result of a read, `readUri` is the server's own URI of the resource that was read. The result
   * repeats this URI, which does not count as a link.
   */
  publicUrisFor(server: string, scope: Scope, readUri?: string): ToPublicUri {
    const { resources } = this.catalogOf(scope);
    // Created on first use: most results contain no URI.
    let publicUris: Map<string, string> | undefined;
    let unlistedCount = 0;
    return (uri) => {
      const knownPublicUri = publicUris?.get(uri);
      if (knownPublicUri !== undefined) return knownPublicUri;
      const address = { server, uri };
      const isListed = resources.isListed(address);
      if (!isListed) unlistedCount++;
      const publicUri =
        isListed || unlistedCount <= MAX_UNLISTED_LOOKUPS
          ? resources.publicUri(address, scope)
          : resourceForm(address);
      publicUris ??= new Map();
      publicUris.set(uri, publicUri);
      if (uri !== readUri && !isListed) this.recordLink(address);
      return publicUri;
    };
  }

  /** Throws this error of a call to the server, with the public URI in `data.uri` if the server has set this member. */
  async throwPublicError(error: unknown, server: string, scope: Scope): Promise<never> {
    if (!(error instanceof RemoteError)) throw error;
    const { resources } = this.catalogOf(scope);
    const rewrite = withPublicErrorUri(error.text, (uri) => resources.publicUri({ server, uri }, scope));
    const text = await runSliced(rewrite, sliceScheduler.start());
    throw text === error.text ? error : new RemoteError(error.code, error.message, text);
  }

  /** Resolves a URI in a request to a listed resource, an instance of a template, or a linked resource. */
  find(scope: Scope, requestedUri: string): ResolvedResource | undefined {
    const { resources } = this.catalogOf(scope);
    return resources.view(scope).find(requestedUri) ?? this.findLinked(scope, requestedUri);
  }

  /** Resolves only linked resources, and only by the resource form of their URI. */
  findLinked(scope: Scope, requestedUri: string): ResourceAddress | undefined {
    const address = parseResourceForm(requestedUri);
    if (!address || !scope.allows(address.server)) return undefined;
    return this.isLinked(address, this.catalogOf(scope)) ? address : undefined;
  }

  /** Whether the server has linked the resource. `catalog` may be an earlier catalog than the current one. */
  isLinked({ server, uri }: ResourceAddress, catalog = this.catalogOf(EVERYTHING)): boolean {
    if (!catalog.server(server)) return false;
    return this.unlistedLinks.has({ server, uri }) || catalog.tools.usesUi(server, uri);
  }

  /** Records the link, and deletes the links of servers that are no longer in the catalog. */
  private recordLink(address: ResourceAddress): void {
    const catalog = this.catalogOf(EVERYTHING);
    for (const server of this.unlistedLinks.servers)
      if (!catalog.server(server)) this.unlistedLinks.deleteServer(server);
    this.unlistedLinks.add(address);
  }
}
