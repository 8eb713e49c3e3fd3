import { isUriTooLong, type ResourceAddress } from '../core/resources/resource-uri.js';

const MAX_LINKS_PER_SERVER = 10_000;
/** Maximum length of all URIs of a server together. A character takes up to two bytes of memory. */
const MAX_CHARACTERS_PER_SERVER = 2_097_152;

interface ServerLinks {
  /** In the order in which they were last linked. */
  readonly uris: Set<string>;
  /** The length of all `uris` together. */
  characters: number;
}

/** The latest links to unlisted resources in the results of each server. Bounded per server. */
export class UnlistedLinks {
  private readonly links = new Map<string, ServerLinks>();

  constructor(
    private readonly maxLinks = MAX_LINKS_PER_SERVER,
    private readonly maxCharacters = MAX_CHARACTERS_PER_SERVER,
    /** Called for every link that is dropped to make room for a later one. */
    private readonly onDropped: () => void = () => {},
  ) {}

  get servers(): Iterable<string> {
    return this.links.keys();
  }

  add({ server, uri }: ResourceAddress): void {
    if (isUriTooLong(uri)) return;
    const links = this.links.get(server) ?? { uris: new Set<string>(), characters: 0 };
    this.links.set(server, links);
    const isNew = !links.uris.delete(uri);
    if (isNew) links.characters += uri.length;
    // The latest link is always the last one of the set.
    links.uris.add(uri);
    for (const oldest of links.uris) {
      if (links.uris.size <= this.maxLinks && links.characters <= this.maxCharacters) return;
      links.uris.delete(oldest);
      links.characters -= oldest.length;
      this.onDropped();
    }
  }

  has({ server, uri }: ResourceAddress): boolean {
    return this.links.get(server)?.uris.has(uri) ?? false;
  }

  deleteServer(server: string): void {
    this.links.delete(server);
  }
}
