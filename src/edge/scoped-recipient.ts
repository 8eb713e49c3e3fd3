import { NOTHING, type Scope } from '../core/scope.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';
import type { DeliverOptions } from '../mcp/mcp-context.js';

/** Base class of sessions and listen streams. Holds the scope of a recipient of notifications, and its listeners. */
export abstract class ScopedRecipient {
  private currentScope: Scope = NOTHING;
  protected readonly closeListeners = new ListenerSet();
  private readonly scopeListeners = new ListenerSet();
  isClosed = false;

  /** Removes the queued events for which `isStale` returns true. */
  abstract withdraw(isStale: (event: DeliverOptions) => boolean): void;

  /** The servers whose notifications the client receives. Each request has a scope of its own (`ProjectGuard`). */
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

  /** If the recipient is closed already, calls the listener at once. */
  onClose(listener: () => void): () => void {
    if (this.isClosed) listener();
    return this.closeListeners.add(listener);
  }
}
