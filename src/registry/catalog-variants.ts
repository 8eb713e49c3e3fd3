import type { CatalogBuilder, Listings } from '../core/catalog/catalog-builder.js';
import { Catalog, type Listing } from '../core/catalog/catalog.js';
import { META_TOOL_SERVER } from '../core/naming/catalog-entry.js';
import type { ResourceDirectory } from '../core/resources/resource-directory.js';
import type { Steps } from '../lib/slices/run-sliced.js';

/** Maximum number of variants. Limited, because every variant is built again when the shared catalog changes. */
export const MAX_CATALOG_VARIANTS = 1000;

/** Prefix of the keys of variants. The other keys of the build queues are server ids, which do not begin with it. */
const KEY_PREFIX = '\0';

/**
 * A catalog for link owners with links of their own (`isolation: session`). It is the shared catalog,
 * except that some servers have the listings of the owner's links in place of those of the shared link.
 */
export class CatalogVariant {
  /** Number of link owners that use the variant. */
  users = 0;
  /** Resolves when the variant was built for the first time. */
  firstBuild: Promise<unknown> = Promise.resolve();
  private names: Pick<Catalog, 'tools' | 'prompts'> | undefined;
  private resources: ResourceDirectory | undefined;
  /** The last result of `catalog`, and the shared catalog from which it was made. */
  private cached: { readonly base: Catalog; readonly catalog: Catalog } | undefined;

  constructor(
    readonly key: string,
    private readonly listings: Listings,
    /** The current shared catalog. */
    private readonly base: () => Catalog,
  ) {}

  /**
   * The variant of the current shared catalog, without the servers that were removed from it. Until the variant is built,
   * this is the shared catalog itself.
   */
  get catalog(): Catalog {
    const { names, resources } = this;
    const base = this.base();
    if (!names || !resources) return base;
    if (this.cached?.base === base) return this.cached.catalog;
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
    this.cached = { base, catalog };
    return catalog;
  }

  *buildNames(builder: CatalogBuilder): Steps {
    this.names = yield* builder.namesWith(this.listings);
    this.cached = undefined;
  }

  *buildResources(builder: CatalogBuilder): Steps {
    this.resources = yield* builder.resourcesWith(this.listings);
    this.cached = undefined;
  }
}

/** The variants of the catalog that link owners use. Owners with equal listings share one. */
export class CatalogVariants {
  private readonly byKey = new Map<string, CatalogVariant>();
  private readonly byOwner = new Map<string, CatalogVariant>();
  /** By list: a number that stands for it in keys. Equal lists of a server are one object (`ListDeduplicator`). */
  private readonly listIds = new WeakMap<object, number>();
  private lastListId = 0;

  constructor(
    /** The current shared catalog. */
    private readonly base: () => Catalog,
    /** Builds the variant with this key. */
    private readonly build: (key: string) => Promise<unknown>,
    private readonly maxVariants = MAX_CATALOG_VARIANTS,
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

  /** The variant of a link owner; undefined when the owner uses the shared catalog. */
  of(owner: string): CatalogVariant | undefined {
    return this.byOwner.get(owner);
  }

  /**
   * Gives the link owner the variant with these listings, as soon as that is built. Without listings, or when there are
   * too many variants, the owner uses the shared catalog. Resolves with false if there are too many variants.
   */
  async assign(owner: string, listings: Listings): Promise<boolean> {
    const variant = listings.size > 0 ? this.acquire(listings) : undefined;
    if (variant) await variant.firstBuild;
    const previousVariant = this.byOwner.get(owner);
    if (variant) this.byOwner.set(owner, variant);
    else this.byOwner.delete(owner);
    if (previousVariant) this.release(previousVariant);
    return variant !== undefined || listings.size === 0;
  }

  /** Undefined when there are too many variants. Otherwise the caller must release the variant. */
  private acquire(listings: Listings): CatalogVariant | undefined {
    const key = this.keyOf(listings);
    let variant = this.byKey.get(key);
    if (!variant) {
      if (this.byKey.size >= this.maxVariants) return undefined;
      variant = new CatalogVariant(key, listings, this.base);
      this.byKey.set(key, variant);
      variant.firstBuild = this.build(key);
    }
    variant.users++;
    return variant;
  }

  private release(variant: CatalogVariant): void {
    variant.users--;
    if (variant.users === 0) this.byKey.delete(variant.key);
  }

  /** Equal listings have the same key. */
  private keyOf(listings: Listings): string {
    const parts = [...listings].map(([id, listing]) => `${id} ${this.listIdsOf(listing).join(' ')}`);
    return KEY_PREFIX + parts.toSorted().join('\0');
  }

  private listIdsOf({ tools, prompts, resources, templates }: Listing): number[] {
    return [tools, prompts, resources, templates].map((list) => {
      const knownId = this.listIds.get(list);
      if (knownId !== undefined) return knownId;
      this.lastListId++;
      this.listIds.set(list, this.lastListId);
      return this.lastListId;
    });
  }
}
