import { isUriTooLong, type ResourceAddress } from '../core/resources/resource-uri.js';

const MAX_LINKS_PER_SERVER = 10_000;

/** Remembers the latest links in results of each server to resources that the server does not list. */
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
    links.delete(uri);
    links.add(uri);
    if (links.size <= this.maxLinks) return;
    for (const oldest of links) {
      links.delete(oldest);
      return;
    }
  }

  has({ server, uri }: ResourceAddress): boolean {
    return this.uris.get(server)?.has(uri) ?? false;
  }

  forget(server: string): void {
    this.uris.delete(server);
  }
}
