import { Injectable, Logger } from '@nestjs/common';
import { DecisionStore, type Decisions } from '../state/decision-store.js';
import { SerialQueue } from '../lib/queues/serial-queue.js';
import { Metrics } from '../metrics/metrics.js';
import type { AdminCaller } from './admin-caller.js';
import { AuditLog } from './audit/audit-log.js';
import { SecretRedactor } from './secret-redactor.js';
import type { PlainObject } from './plain-object.js';

type AuditEvent = Parameters<AuditLog['append']>[0];

export interface AdminAction {
  /** Such as `server.disable`. */
  readonly action: string;
  readonly target: string;
}

/** What a request comes down to, once it is known to be allowed and to change something. */
export interface PlannedChange {
  /** For the audit log; values that may be secret do not belong in it. */
  readonly summary?: PlainObject;
  readonly apply: () => unknown;
}

/**
 * Makes changes one after the other, so that what a plan was made from still holds when it is carried out. Each is on
 * record before it is made: a change that cannot be recorded is not made.
 */
@Injectable()
export class AdminActions {
  private readonly logger = new Logger('Audit');
  private readonly turns = new SerialQueue();

  constructor(
    private readonly audit: AuditLog,
    private readonly state: DecisionStore,
    private readonly secrets: SecretRedactor,
    private readonly metrics: Metrics,
  ) {}

  /** For plans: a decision, durable before it is applied. */
  decide(change: (decisions: Decisions) => Decisions): PlannedChange['apply'] {
    return () => this.state.update(change);
  }

  /** `plan` throws when the request is refused, and gives nothing when all is as wanted. True when something changed. */
  run(by: AdminCaller, deed: AdminAction, plan: () => PlannedChange | undefined): Promise<boolean> {
    return this.turns.run(async () => {
      const found = plan();
      if (!found) return false;
      await this.carryOut(by, deed, found);
      return true;
    });
  }

  private async carryOut(
    by: AdminCaller,
    deed: AdminAction,
    { summary, apply }: PlannedChange,
  ): Promise<void> {
    const { actor, requestId } = by;
    const change = summary === undefined ? {} : { change: this.secrets.redact(summary) as PlainObject };
    const record = { actor, requestId, ...deed };
    await this.record({ ...record, outcome: 'begun', ...change });
    try {
      await apply();
    } catch (error) {
      await this.conclude({ ...record, outcome: 'failed' });
      throw error;
    }
    await this.conclude({ ...record, outcome: 'done' });
    this.logger.log({ message: 'changed through the admin API', ...record });
  }

  /** That it was begun is on record already; what is done is not undone because its end cannot be added. */
  private async conclude(event: AuditEvent): Promise<void> {
    try {
      await this.record(event);
    } catch (error) {
      this.logger.error({
        message: 'the outcome of a change is missing in the audit log',
        ...event,
        cause: (error as Error).message,
      });
    }
  }

  private async record(event: AuditEvent): Promise<void> {
    try {
      await this.audit.append(event);
    } catch (error) {
      this.metrics.countAuditFailure();
      throw error;
    }
  }
}
