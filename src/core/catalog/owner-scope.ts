import type { Scope } from '../scope.js';
import type { Catalog } from './catalog.js';

/**
 * The scope of a request from a link owner (`LinkOwner`) that has links of its own (`isolation: session`). `catalog` contains
 * the listings that servers sent over these links, in place of the listings from shared links.
 */
export class OwnerScope implements Scope {
  constructor(
    private readonly scope: Scope,
    private readonly catalogVariant: { readonly catalog: Catalog },
  ) {}

  get key(): string {
    return this.scope.key;
  }

  allows(server: string): boolean {
    return this.scope.allows(server);
  }

  get catalog(): Catalog {
    return this.catalogVariant.catalog;
  }
}
