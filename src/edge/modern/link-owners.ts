import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpSettings } from '../../config/http-settings.js';
import { Limits } from '../../config/limits.js';
import { isLoopback } from '../../config/loopback.js';
import { GatewayError } from '../../core/errors.js';
import { ANONYMOUS, type Principal } from '../../mcp/principal.js';
import { Metrics } from '../../metrics/metrics.js';
import { PrincipalQuota } from '../../state/principal-quota.js';
import { Quotas } from '../../state/quotas.js';
import { Sessions } from '../sessions.service.js';
import { SessionlessLinkOwner } from './sessionless-link-owner.js';

/**
 * The member of `_meta` with the handle, a text that the client chooses. Requests of a principal with the same handle belong
 * together.
 */
export const SESSION_HANDLE_KEY = 'io.gatehouse/session';
const MAX_HANDLE_LENGTH = 128;

interface OwningClient {
  readonly principal: Principal;
  readonly quotaKey: string;
  /** The value of `SESSION_HANDLE_KEY`. */
  readonly sessionHandle: unknown;
}

/**
 * The owners of links that are not shared (`isolation: session`), for clients without sessions. A principal has one
 * owner for each of its handles, and one for its requests without a handle. An owner that has not been used for
 * `limits.sessionIdleMs` is closed together with its links.
 */
@Injectable()
export class LinkOwners implements OnModuleInit {
  private readonly byKey = new Map<string, SessionlessLinkOwner>();
  private readonly handles: PrincipalQuota;
  private readonly servesAnonymous: boolean;

  constructor(
    private readonly limits: Limits,
    { host }: HttpSettings,
    private readonly sessions: Sessions,
    metrics: Metrics,
    quotas: Quotas,
  ) {
    // A principal may have as many handles as processes, because each handle can lead to a process.
    const limit = {
      name: 'handles',
      limit: limits.processesPerPrincipal,
      noun: `handles (${SESSION_HANDLE_KEY})`,
    };
    this.handles = new PrincipalQuota(quotas, limit, () => metrics.countRefusal('processesPerPrincipal'));
    this.servesAnonymous = isLoopback(host);
  }

  onModuleInit(): void {
    this.sessions.onInterval(() => this.closeWhere((owner) => owner.isIdleFor(this.limits.sessionIdleMs)));
  }

  get size(): number {
    return this.byKey.size;
  }

  /**
   * The id of the owner for a request of this client, even if the owner does not exist yet. Undefined if the client can
   * have no owner: see `of`. Throws if the handle is not valid.
   */
  idOf(client: OwningClient): string | undefined {
    const key = this.keyOf(client);
    return key === undefined ? undefined : idOfKey(key);
  }

  /**
   * Returns the owner for a request of this client, and creates it if necessary. Anonymous clients would all share one
   * owner. They get it only if the gateway serves only this machine; otherwise, returns undefined for them. Throws if the
   * handle is not valid, or if the principal has too many handles.
   */
  of(client: OwningClient): SessionlessLinkOwner | undefined {
    const { principal, quotaKey, sessionHandle: handle } = client;
    const key = this.keyOf(client);
    if (key === undefined) return undefined;
    const known = this.byKey.get(key);
    if (known) {
      known.principal = principal;
      return known;
    }
    if (handle !== undefined && !this.handles.claim(quotaKey)) throw this.handles.refuse();
    const owner = new SessionlessLinkOwner(idOfKey(key), principal, quotaKey, handle !== undefined);
    this.byKey.set(key, owner);
    owner.onClose(() => {
      this.byKey.delete(key);
      if (handle !== undefined) this.handles.release(quotaKey);
    });
    return owner;
  }

  /** Closes the owners of principals whose credentials are no longer valid. */
  closeRevoked(isCurrent: (principal: Principal) => boolean): void {
    this.closeWhere(({ principal }) => !isCurrent(principal));
  }

  private keyOf({ principal, sessionHandle: handle }: OwningClient): string | undefined {
    if (principal === ANONYMOUS && !this.servesAnonymous) return undefined;
    if (handle !== undefined) requireHandle(handle);
    return JSON.stringify([principal.id, handle]);
  }

  private closeWhere(isMeant: (owner: SessionlessLinkOwner) => boolean): void {
    for (const owner of this.byKey.values()) if (isMeant(owner)) owner.close();
  }
}

const idOfKey = (key: string): string => `sessionless ${key}`;

function requireHandle(handle: unknown): void {
  if (typeof handle === 'string' && handle.length > 0 && handle.length <= MAX_HANDLE_LENGTH) return;
  throw new GatewayError(
    'invalid-params',
    `_meta["${SESSION_HANDLE_KEY}"] must be a string of 1 to ${MAX_HANDLE_LENGTH} characters`,
  );
}
