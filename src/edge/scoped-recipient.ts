import { NOTHING, type Scope } from '../core/scope.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';
import type { DeliverOptions } from '../mcp/mcp-context.js';

/** The scope and the end of a recipient of notifications, a session or a listen stream. */
export abstract class ScopedRecipient {
  private currentScope: Scope = NOTHING;
  protected readonly closeListeners = new ListenerSet();
  private readonly scopeListeners = new ListenerSet();
  isClosed = false;

  abstract withdraw(isStale: (event: DeliverOptions) => boolean): void;

  /** The servers whose notifications the client receives. Requests have scopes of their own: see `ProjectGuard`. */
  get scope(): Scope {
    return this.currentScope;
  }

  set scope(scope: Scope) {
    const hasChanged = scope.key !== this.currentScope.key;
    this.currentScope = scope;
    if (!hasChanged) return;
    this.withdraw(({ server }) => server !== undefined && !scope.allows(server));
    this.scopeListeners.emit();
  }

  onScopeChange(listener: () => void): () => void {
    return this.scopeListeners.add(listener);
  }

  onClose(listener: () => void): () => void {
    if (this.isClosed) listener();
    return this.closeListeners.add(listener);
  }
}
