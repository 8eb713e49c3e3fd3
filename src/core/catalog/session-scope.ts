import type { Scope } from '../scope.js';
import type { Catalog } from './catalog.js';

/** The scope of a session that has listings of its own in place of those of the shared links (`isolation: session`). */
export class SessionScope implements Scope {
  constructor(
    private readonly scope: Scope,
    private readonly variant: { readonly catalog: Catalog },
  ) {}

  get key(): string {
    return this.scope.key;
  }

  allows(server: string): boolean {
    return this.scope.allows(server);
  }

  get catalog(): Catalog {
    return this.variant.catalog;
  }
}
