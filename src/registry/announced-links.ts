import { isUriTooLong, type ResourceAddress } from '../core/resources/resource-uri.js';

/** Per server. */
const MAX_LINKS = 10_000;

/**
 * Resources that results linked to and that are not listed: servers need not list what they link to. Keeps the latest
 * links of each server.
 */
export class AnnouncedLinks {
  /** By server, the latest last. */
  private readonly uris = new Map<string, Set<string>>();

  constructor(private readonly maxLinks = MAX_LINKS) {}

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
