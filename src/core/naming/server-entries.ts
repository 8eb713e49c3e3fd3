import type { CatalogEntry, ListedEntry } from './catalog-entry.js';
import type { NamingStyle } from './naming.js';

/**
 * The tools, or the prompts, of one server under their default names: the names that they have in a scope without
 * conflicts. Immutable.
 */
export interface ServerEntries {
  readonly server: string;
  /** Position of the server in the configuration. */
  readonly rank: number;
  readonly style: NamingStyle;
  /** Sorted by default name. The same array as before when no entry changed. */
  readonly listed: readonly ListedEntry[];
  /** The listed entries whose name depends on the scope: they have a bare name that may be taken by another server. */
  readonly scopeDependent: readonly ListedEntry[];
  /**
   * The beginnings of names in `scopeDependent` that could be a server id. If a server with such an id is configured,
   * the name belongs to that server (`ServerIds`).
   */
  readonly possibleOwners: ReadonlySet<string>;
  /** Whether a name in `scopeDependent` looks like a digest name, which may belong to another server. */
  readonly mayHaveDigestOwners: boolean;
  /** The default names without a prefix. */
  readonly bareNames: ReadonlySet<string>;
  /**
   * Own names of tools that an administrator disabled. They are not listed, but other servers cannot take their names.
   */
  readonly disabledNames: ReadonlySet<string>;
  /** By default name. */
  readonly byPublicName: ReadonlyMap<string, CatalogEntry>;
  /**
   * By digest name: the entries that have it in some scope. Contains only digest names from which the prefixed name
   * cannot be restored, and which are not the default name of their entry.
   */
  readonly byDigestName: ReadonlyMap<string, CatalogEntry>;
  readonly byOwnName: ReadonlyMap<string, CatalogEntry>;
  /** URIs of user interfaces that the definitions of tools refer to. */
  readonly uiUris: ReadonlySet<string>;
}
