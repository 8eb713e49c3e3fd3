import { isUriTooLong, type ResourceAddress } from '../core/resources/resource-uri.js';

const MAX_LINKS_PER_SERVER = 10_000;

/** The latest links to unlisted resources in the results of each server. Bounded per server. */
export class UnlistedLinks {
  /** The own URIs by server, the latest last. */
  private readonly uris = new Map<string, Set<string>>();

  constructor(private readonly maxLinks = MAX_LINKS_PER_SERVER) {}

  get servers(): Iterable<string> {
    return this.uris.keys();
  }

  add({ server, uri }: ResourceAddress): void {
    if (isUriTooLong(uri)) return;
    const links = this.uris.get(server) ?? new Set<string>();
    this.uris.set(server, links);
    // Moves a link that exists already to the end.
    links.delete(uri);
    links.add(uri);
    const [oldest] = links;
    if (links.size > this.maxLinks) links.delete(oldest!);
  }

  has({ server, uri }: ResourceAddress): boolean {
    return this.uris.get(server)?.has(uri) ?? false;
  }

  deleteServer(server: string): void {
    this.uris.delete(server);
  }
}
