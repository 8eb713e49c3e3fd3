import type { CatalogBuilder, Listings } from '../core/catalog/catalog-builder.js';
import { Catalog, type Listing } from '../core/catalog/catalog.js';
import { META_TOOL_SERVER } from '../core/naming/catalog-entry.js';
import type { ResourceDirectory } from '../core/resources/resource-directory.js';
import type { Steps } from '../lib/slices/run-sliced.js';

/** Limited, because every variant is built again when the catalog changes. */
export const MAX_CATALOG_VARIANTS = 1000;

/** The build queues take both server ids and keys of variants. No server id starts with this prefix. */
const KEY_PREFIX = '\0';

/**
 * The catalog in which some servers have the listings of a session in place of those of the shared link. Follows the
 * changes of the shared catalog.
 */
export class CatalogVariant {
  /** Number of sessions that use the variant. */
  users = 0;
  /** Resolves when the variant was built for the first time. */
  built: Promise<unknown> = Promise.resolve();
  private names: Pick<Catalog, 'tools' | 'prompts'> | undefined;
  private resources: ResourceDirectory | undefined;
  private current: { readonly base: Catalog; readonly catalog: Catalog } | undefined;

  constructor(
    readonly key: string,
    private readonly listings: Listings,
    /** The current shared catalog. */
    private readonly base: () => Catalog,
  ) {}

  /** The shared catalog until the variant is built. Servers that are removed from the shared catalog disappear at once. */
  get catalog(): Catalog {
    const { names, resources } = this;
    const base = this.base();
    if (!names || !resources) return base;
    if (this.current?.base === base) return this.current.catalog;
    const isKnown = (id: string): boolean => id === META_TOOL_SERVER || base.server(id) !== undefined;
    const servers = base.servers.map((server) => ({
      ...server,
      listing: this.listings.get(server.id) ?? server.listing,
    }));
    const catalog = new Catalog(
      servers,
      names.tools.only(isKnown),
      names.prompts.only(isKnown),
      resources.only(isKnown),
    );
    this.current = { base, catalog };
    return catalog;
  }

  *buildNames(builder: CatalogBuilder): Steps {
    this.names = yield* builder.namesWith(this.listings);
    this.current = undefined;
  }

  *buildResources(builder: CatalogBuilder): Steps {
    this.resources = yield* builder.resourcesWith(this.listings);
    this.current = undefined;
  }
}

/** The variants of the catalog that sessions use. Sessions with equal listings share one. */
export class CatalogVariants {
  private readonly byKey = new Map<string, CatalogVariant>();
  private readonly bySession = new Map<string, CatalogVariant>();
  /** A number for each list, from which keys are made. Equal lists of a server are one object (`ListDeduplicator`). */
  private readonly listIds = new WeakMap<object, number>();
  private lastListId = 0;

  constructor(
    private readonly base: () => Catalog,
    private readonly build: (key: string) => Promise<unknown>,
    private readonly max = MAX_CATALOG_VARIANTS,
  ) {}

  get size(): number {
    return this.byKey.size;
  }

  keys(): Iterable<string> {
    return this.byKey.keys();
  }

  find(key: string): CatalogVariant | undefined {
    return this.byKey.get(key);
  }

  /** The variant of a session; undefined when the session uses the shared catalog. */
  of(session: string): CatalogVariant | undefined {
    return this.bySession.get(session);
  }

  /**
   * Waits until the variant with these listings is built, then replaces the earlier variant of the session by it.
   * Resolves with false when there are too many variants: the session then uses the shared catalog.
   */
  async assign(session: string, listings: Listings): Promise<boolean> {
    const variant = listings.size > 0 ? this.acquire(listings) : undefined;
    if (variant) await variant.built;
    const earlier = this.bySession.get(session);
    if (variant) this.bySession.set(session, variant);
    else this.bySession.delete(session);
    if (earlier) this.release(earlier);
    return variant !== undefined || listings.size === 0;
  }

  private acquire(listings: Listings): CatalogVariant | undefined {
    const key = this.keyOf(listings);
    let variant = this.byKey.get(key);
    if (!variant) {
      if (this.byKey.size >= this.max) return undefined;
      variant = new CatalogVariant(key, listings, this.base);
      this.byKey.set(key, variant);
      variant.built = this.build(key);
    }
    variant.users++;
    return variant;
  }

  private release(variant: CatalogVariant): void {
    if (--variant.users === 0) this.byKey.delete(variant.key);
  }

  private keyOf(listings: Listings): string {
    const parts = [...listings].map(([id, listing]) => `${id} ${this.idsOf(listing).join(' ')}`);
    return KEY_PREFIX + parts.toSorted().join('\0');
  }

  private idsOf({ tools, prompts, resources, templates }: Listing): number[] {
    return [tools, prompts, resources, templates].map((list) => {
      const id = this.listIds.get(list) ?? ++this.lastListId;
      this.listIds.set(list, id);
      return id;
    });
  }
}
