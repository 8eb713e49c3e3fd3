import type { CatalogEntry, ListedEntry } from './catalog-entry.js';
import type { NamingStyle } from './naming.js';

/** The tools, or the prompts, of one server under their usual names: those in a scope without conflicts. Immutable. */
export interface ServerEntries {
  readonly server: string;
  readonly rank: number;
  readonly style: NamingStyle;
  /** Sorted by usual name. The same array as before when no entry changed. */
  readonly listed: readonly ListedEntry[];
  /** The listed entries whose name in a scope depends on the other servers of the scope. */
  readonly unsettled: readonly ListedEntry[];
  /** The texts before a separator in the names of `unsettled`. A server with such an id owns the name (`ServerIds`). */
  readonly possibleOwners: ReadonlySet<string>;
  /** Whether names of `unsettled` look like names with digest. */
  readonly mayHaveDigestOwners: boolean;
  /** The usual names without a prefix. */
  readonly bareNames: ReadonlySet<string>;
  /** Own names of disabled tools: the server has them, but no client can use them. */
  readonly disabledNames: ReadonlySet<string>;
  /** By usual name. */
  readonly byPublicName: ReadonlyMap<string, CatalogEntry>;
  /**
   * By the name with a digest that an entry may have in a scope. Leaves out usual names, and names that contain the
   * whole prefixed name before the digest.
   */
  readonly byDigestName: ReadonlyMap<string, CatalogEntry>;
  readonly byOwnName: ReadonlyMap<string, CatalogEntry>;
  /** URIs of user interfaces that the definitions of tools refer to. */
  readonly uiUris: ReadonlySet<string>;
}
