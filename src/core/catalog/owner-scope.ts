import type { Scope } from '../scope.js';
import type { Catalog } from './catalog.js';

/**
 * The scope of a link owner with links of its own (`isolation: session`). Its catalog contains the listings that servers
 * sent over these links, in place of those from shared links.
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
