import { Injectable } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { DecisionReview, type ReviewedDecision } from '../decisions/decision-review.js';
import { isRevokedKey } from '../decisions/effective-decisions.js';
import { Sessions } from '../edge/sessions.service.js';
import { keyDecisionId, withoutDecision } from '../state/decision-items.js';
import { decideKey, decideServer } from '../state/decisions.js';
import { DecisionStore, type Decisions } from '../state/decision-store.js';
import type { ApiKeyConfig } from '../config/api-key-config.js';
import { AdminActions } from './admin-actions.js';
import type { AdminCaller } from './admin-caller.js';
import { notFound } from './admin-problem.js';
import type { DecisionDto } from './dto/decision.dto.js';
import type { KeyDto } from './dto/key.dto.js';
import { ServerAdmin } from './server-admin.js';

/** Lists and clears decisions; lists and revokes the keys of clients. */
@Injectable()
export class DecisionAdmin {
  constructor(
    private readonly review: DecisionReview,
    private readonly actions: AdminActions,
    private readonly servers: ServerAdmin,
    private readonly live: LiveConfig,
    private readonly store: DecisionStore,
    private readonly sessions: Sessions,
  ) {}

  all(): DecisionDto[] {
    return this.review.all();
  }

  /**
   * Ends a decision, so that the configuration file applies again. If the decision defines a server or project that the
   * file does not define, the server or project is removed with every decision about it.
   */
  async clear(caller: AdminCaller, id: string): Promise<void> {
    let cleared: ReviewedDecision | undefined;
    await this.actions.run(caller, { action: 'decision.clear', target: id }, () => {
      cleared = this.review.find(id);
      if (!cleared) throw notFound('decision', id);
      const { target, kind, change } = cleared;
      const removesServer =
        kind === 'server' && change === 'defined' && !this.live.current.mcpServers.has(target);
      // An empty decision about the server replaces all decisions about the server and its tools.
      const update = (decisions: Decisions): Decisions =>
        removesServer ? decideServer(decisions, target, () => ({})) : withoutDecision(decisions, id);
      return { apply: this.actions.decisionUpdate(caller, update) };
    });
    if (cleared?.kind === 'server' || cleared?.kind === 'tool')
      await this.servers.whenApplied(cleared.target);
  }

  keys(): KeyDto[] {
    const sessionCounts = new Map<string, number>();
    for (const { principal } of this.sessions.all())
      sessionCounts.set(principal.id, (sessionCounts.get(principal.id) ?? 0) + 1);
    return (this.live.current.auth.apiKeys ?? []).map((key) => {
      const principalId = `key:${key.id}`;
      return this.keyDto(key, sessionCounts.get(principalId) ?? 0);
    });
  }

  /** Resolves when the sessions of the key are closed and their end is on disk, or after a timeout. Idempotent. */
  async revoke(caller: AdminCaller, id: string): Promise<KeyDto> {
    await this.actions.run(caller, { action: 'key.revoke', target: id }, () => {
      const key = this.live.current.auth.apiKeys?.find((each) => each.id === id);
      if (!key) throw notFound('key', id);
      if (isRevokedKey(key, this.store.current)) return undefined;
      const revoke = (decisions: Decisions): Decisions =>
        decideKey(decisions, id, {
          revoked: [...(decisions.keys.get(id)?.revoked ?? []), key.hash.toLowerCase()],
        });
      return { apply: this.actions.decisionUpdate(caller, revoke) };
    });
    await this.sessions.waitUntilPersisted();
    return this.keys().find((key) => key.id === id)!;
  }

  private keyDto(key: ApiKeyConfig, sessions: number): KeyDto {
    const { id, projects, expires } = key;
    const isRevoked = isRevokedKey(key, this.store.current);
    const decision = isRevoked ? this.review.find(keyDecisionId(id)) : undefined;
    return {
      id,
      state: isRevoked ? 'revoked' : stateByExpiry(expires),
      projects: [...projects],
      ...(expires === undefined ? {} : { expires: new Date(expires).toISOString() }),
      sessions,
      ...(decision && { decision }),
    };
  }
}

const stateByExpiry = (expires: string | undefined): 'active' | 'expired' =>
  expires !== undefined && Date.now() >= Date.parse(expires) ? 'expired' : 'active';
