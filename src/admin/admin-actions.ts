import { Injectable, Logger } from '@nestjs/common';
import { shorten } from '../core/errors.js';
import type { JsonObject } from '../lib/json-text/json-value.js';
import { DecisionReview } from '../decisions/decision-review.js';
import { DecisionStore, type Decisions } from '../state/decision-store.js';
import { SerialQueue } from '../lib/queues/serial-queue.js';
import { Metrics } from '../metrics/metrics.js';
import type { AdminCaller } from './admin-caller.js';
import type { AuditEvent } from '../state/audit/audit-entry.js';
import { AuditLog } from '../state/audit/audit-log.js';
import { AdminProblem, PROBLEMS } from './admin-problem.js';
import { RefusalBudget } from './refusal-budget.js';
import { SecretRedactor } from './secret-redactor.js';

export interface AdminAction {
  /** For example `server.disable`. */
  readonly action: string;
  readonly target: string;
}

/** The change that an accepted request makes. */
export interface PlannedChange {
  /** What the audit log says about the change. Contains no values that may be secret. */
  readonly summary?: JsonObject;
  readonly apply: () => unknown;
}

/**
 * Runs admin actions one at a time, so that a change is applied to the state it was planned for. An action is written to
 * the audit log before it is applied; if that write fails, nothing is changed.
 */
@Injectable()
export class AdminActions {
  private readonly logger = new Logger('Audit');
  private readonly queue = new SerialQueue();
  private readonly refusals: RefusalBudget;
  /** The problems that `recordRefusal` has handled already. It records each problem once at most. */
  private readonly handledProblems = new WeakSet<AdminProblem>();

  constructor(
    private readonly audit: AuditLog,
    private readonly decisions: DecisionStore,
    private readonly secrets: SecretRedactor,
    private readonly metrics: Metrics,
    private readonly review: DecisionReview,
  ) {
    this.refusals = new RefusalBudget(metrics);
  }

  /**
   * Creates the `apply` of a change that updates the decisions. The decision with the id `renewedDecisionId` gets a new
   * stamp (author and time) even if its value stays the same.
   */
  decisionUpdate(
    { actor }: AdminCaller,
    change: (decisions: Decisions) => Decisions,
    renewedDecisionId?: string,
  ): PlannedChange['apply'] {
    return () => this.decisions.update(this.review.complete(change, actor, renewedDecisionId));
  }

  /**
   * `plan` throws to refuse the request, and returns undefined when nothing needs to change. Resolves with true if a change
   * was made.
   */
  run(caller: AdminCaller, action: AdminAction, plan: () => PlannedChange | undefined): Promise<boolean> {
    return this.queue.run(async () => {
      const change = await this.planOrRecordRefusal(caller, action, plan);
      if (!change) return false;
      await this.applyAndRecord(caller, action, change);
      return true;
    });
  }

  /**
   * Records a refused request in the audit log, once per `problem` and only within the limit of `RefusalBudget`. Guards and
   * interceptors call it for requests that they refuse before `run`. A failed write does not change the response.
   */
  async recordRefusal(
    { actor, requestId }: Omit<AdminCaller, 'precondition'>,
    action: AdminAction,
    problem: AdminProblem,
  ): Promise<void> {
    const isRefusal = PROBLEMS[problem.kind].status < 500;
    if (!isRefusal || this.handledProblems.has(problem)) return;
    this.handledProblems.add(problem);
    const suppressed = this.refusals.take(actor);
    const isBudgetExhausted = suppressed === undefined;
    if (isBudgetExhausted) return;
    const change = { problem: problem.kind, ...(suppressed > 0 && { suppressed }) };
    const target = shorten(action.target);
    await this.recordOutcome({ actor, requestId, ...action, target, outcome: 'refused', change });
  }

  private async planOrRecordRefusal(
    caller: AdminCaller,
    action: AdminAction,
    plan: () => PlannedChange | undefined,
  ): Promise<PlannedChange | undefined> {
    try {
      return plan();
    } catch (error) {
      if (error instanceof AdminProblem) await this.recordRefusal(caller, action, error);
      throw error;
    }
  }

  private async applyAndRecord(
    caller: AdminCaller,
    action: AdminAction,
    { summary, apply }: PlannedChange,
  ): Promise<void> {
    const { actor, requestId } = caller;
    const change = summary === undefined ? {} : { change: this.secrets.redact(summary) as JsonObject };
    const entry = { actor, requestId, ...action };
    await this.record({ ...entry, outcome: 'begun', ...change });
    try {
      await apply();
    } catch (error) {
      await this.recordOutcome({ ...entry, outcome: 'failed' });
      throw error;
    }
    await this.recordOutcome({ ...entry, outcome: 'done' });
    this.logger.log({ message: 'admin action done', ...entry });
  }

  /**
   * A failed write of an outcome is only logged, because the action has ended or was refused already. The `begun` entry of an
   * ended action is in the audit log.
   */
  private async recordOutcome(event: AuditEvent): Promise<void> {
    try {
      await this.record(event);
    } catch (error) {
      this.logger.error({
        message: 'the outcome of an admin action is missing in the audit log',
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
