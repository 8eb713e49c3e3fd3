import type { Catalog } from '../core/catalog/catalog.js';
import { AnnouncedLinks } from './announced-links.js';
import type { ToPublicUri } from '../core/resources/public-uris.js';
import { parseResourceForm, resourceForm, type ResourceAddress } from '../core/resources/resource-uri.js';
import type { Scope } from '../core/scope.js';
import type { ResolvedResource } from '../core/resources/server-resources.js';

/** Lookups of unlisted links per result. Each may examine every template. */
const MAX_UNLISTED_LOOKUPS = 50;

/** Translates the resources that results and tools mention, and resolves them when clients ask for them. */
export class ResourceLinks {
  private readonly announced = new AnnouncedLinks();

  constructor(private readonly catalog: () => Catalog) {}

  /**
   * Maps the own URIs in one result of a server to public URIs. Unlisted ones are remembered, so that clients can read
   * them, except for the URI that the client asked for.
   */
  publicUrisFor(server: string, asked?: string): ToPublicUri {
    const { resources } = this.catalog();
    // Most results mention no resource.
    let names: Map<string, string> | undefined;
    let lookups = 0;
    return (uri) => {
      const known = names?.get(uri);
      if (known !== undefined) return known;
      const address = { server, uri };
      const isListed = resources.isListed(address);
      const name =
        isListed || lookups++ < MAX_UNLISTED_LOOKUPS ? resources.publicUri(address) : resourceForm(address);
      names ??= new Map();
      names.set(uri, name);
      if (uri !== asked && !isListed) this.remember(address);
      return name;
    };
  }

  /** Resolves a URI to a listed resource, an instance of a template, or an unlisted resource that was announced. */
  find(scope: Scope, text: string): ResolvedResource | undefined {
    return this.catalog().resources.view(scope).find(text) ?? this.findAnnounced(scope, text);
  }

  /** Resolves the resource form of an unlisted resource that a result linked to or a tool names as user interface. */
  findAnnounced(scope: Scope, text: string): ResourceAddress | undefined {
    const form = parseResourceForm(text);
    return form && scope.allows(form.server) && this.wasAnnounced(form) ? form : undefined;
  }

  private wasAnnounced({ server, uri }: ResourceAddress): boolean {
    const catalog = this.catalog();
    if (!catalog.server(server)) return false;
    return this.announced.has({ server, uri }) || catalog.tools.usesUi(server, uri);
  }

  private remember(address: ResourceAddress): void {
    const catalog = this.catalog();
    for (const server of this.announced.servers) if (!catalog.server(server)) this.announced.forget(server);
    this.announced.add(address);
  }
}
