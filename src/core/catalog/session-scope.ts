import type { Scope } from '../scope.js';
import type { Catalog } from './catalog.js';

/** The scope of a session that sees other listings than those of the shared links (`isolation: session`). */
export class SessionScope implements Scope {
  constructor(
    private readonly scope: Scope,
    private readonly view: { readonly catalog: Catalog },
  ) {}

  get key(): string {
    return this.scope.key;
  }

  allows(server: string): boolean {
    return this.scope.allows(server);
  }

  get catalog(): Catalog {
    return this.view.catalog;
  }
}
