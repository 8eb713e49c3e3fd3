import type { Catalog } from '../core/catalog/catalog.js';
import { AnnouncedLinks } from '../core/resources/announced-links.js';
import type { ToPublicUri } from '../core/resources/public-uris.js';
import { parseResourceForm, resourceForm, type ResourceAddress } from '../core/resources/resource-uri.js';
import type { Scope } from '../core/scope.js';
import type { ResolvedResource } from '../core/resources/server-resources.js';

/** What a link is called that no list has can take a look at every template to find out: so often for one result. */
const MOST_SOUGHT = 50;

/** Resources as clients come across them: in lists, in results of calls, in what tools say of themselves. */
export class ResourceLinks {
  private readonly given = new AnnouncedLinks();

  constructor(private readonly catalog: () => Catalog) {}

  /**
   * What clients call the resources that one result of a server mentions. It is remembered that they were told, but of
   * what they asked for, which they knew.
   */
  publicUrisFor(server: string, asked?: string): ToPublicUri {
    const { resources } = this.catalog();
    // Most results mention none.
    let names: Map<string, string> | undefined;
    let sought = 0;
    return (uri) => {
      const known = names?.get(uri);
      if (known !== undefined) return known;
      const address = { server, uri };
      const isListed = resources.isListed(address);
      const name = isListed || sought++ < MOST_SOUGHT ? resources.publicUri(address) : resourceForm(address);
      names ??= new Map();
      names.set(uri, name);
      if (uri !== asked && !isListed) this.give(address);
      return name;
    };
  }

  /** What a client means by a URI: something listed, an instance of a template, or what it was told of. */
  find(scope: Scope, text: string): ResolvedResource | undefined {
    return this.catalog().resources.view(scope).find(text) ?? this.findAnnounced(scope, text);
  }

  /** What is in no list, but was named in a result or by a tool, in the form that it was named in. */
  findAnnounced(scope: Scope, text: string): ResourceAddress | undefined {
    const form = parseResourceForm(text);
    return form && scope.allows(form.server) && this.wasTold(form) ? form : undefined;
  }

  private wasTold({ server, uri }: ResourceAddress): boolean {
    const catalog = this.catalog();
    if (!catalog.server(server)) return false;
    return this.given.has({ server, uri }) || catalog.tools.usesUi(server, uri);
  }

  private give(address: ResourceAddress): void {
    const catalog = this.catalog();
    for (const server of this.given.servers) if (!catalog.server(server)) this.given.forget(server);
    this.given.add(address);
  }
}
