import { isUriTooLong, type ResourceAddress } from './resource-uri.js';

/** Links of one server that are remembered; more than clients are likely to come back to. */
const MOST_LINKS = 10_000;

/**
 * Resources that clients were told of in results without their being in a list, which servers need not put them in.
 * Of each server the latest are remembered.
 */
export class AnnouncedLinks {
  /** By server; the latest come last. */
  private readonly uris = new Map<string, Set<string>>();

  constructor(private readonly most = MOST_LINKS) {}

  get servers(): Iterable<string> {
    return this.uris.keys();
  }

  add({ server, uri }: ResourceAddress): void {
    if (isUriTooLong(uri)) return;
    const given = this.uris.get(server) ?? new Set<string>();
    this.uris.set(server, given);
    given.delete(uri);
    given.add(uri);
    if (given.size <= this.most) return;
    for (const oldest of given) {
      given.delete(oldest);
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
