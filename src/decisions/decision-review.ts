import { isDeepStrictEqual } from 'node:util';
import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import type { GatehouseConfig } from '../config/gatehouse-config.js';
import { LiveConfig } from '../config/live-config.js';
import { Metrics } from '../metrics/metrics.js';
import {
  decisionItems,
  projectDecisionItem,
  serverDecisionItems,
  stampChanges,
  toolDecisionItem,
  type DecisionItem,
} from '../state/decision-items.js';
import { DecisionStore, type Decisions, type DecisionStamp } from '../state/decision-store.js';
import { isRevokedKey } from './effective-decisions.js';
import { withoutRedundant } from './redundant-decisions.js';

/** A decision of an administrator, with the result of its comparison with the configuration file. */
export interface ReviewedDecision
  extends Omit<DecisionItem, 'value'>, Partial<Pick<DecisionStamp, 'by' | 'at'>> {
  /** `ignored`: `decisions.policy` is `file`. `unused`: the server, project or key does not exist. */
  readonly effect: DecisionEffect;
  /** Whether the decision applies in place of a different value in the configuration file. */
  readonly overrules: boolean;
  /** Whether the decision is an emergency switch: it overrules the file although `decisions.policy` is `file`. */
  readonly emergency: boolean;
}

type DecisionEffect = 'applied' | 'ignored' | 'unused';

/** Compares the decisions with the configuration file, at the start and at every reload. */
@Injectable()
export class DecisionReview implements OnApplicationBootstrap {
  private readonly logger = new Logger('Decisions');
  /** Number of changes of the file that had no effect because of a decision. */
  private overruledChanges = 0;

  constructor(
    private readonly live: LiveConfig,
    private readonly store: DecisionStore,
    metrics: Metrics,
  ) {
    live.onChange((now, before) => this.configChanged(now, before));
    metrics.expose(
      {
        type: 'gauge',
        name: 'gatehouse_decisions',
        help: 'Decisions of administrators.',
        labelNames: ['effect'],
      },
      () => this.countByEffect(),
    );
    metrics.expose(
      {
        type: 'counter',
        name: 'gatehouse_overruled_changes_total',
        help: 'Changes of the configuration file without effect, because a decision overrules them.',
      },
      () => [[{}, this.overruledChanges]],
    );
  }

  onApplicationBootstrap(): void {
    this.dropRedundant();
    this.logIgnored();
  }

  /** Whether `decisions.policy` is `file`: the admin API must not change what the configuration file defines. */
  get isFilePolicy(): boolean {
    return this.live.current.decisions.policy === 'file';
  }

  all(): ReviewedDecision[] {
    return decisionItems(this.store.current).map((item) => this.review(item));
  }

  /** The decisions about a server, without those about its tools. */
  ofServer(id: string): ReviewedDecision[] {
    return this.aboutServer(id).filter(({ kind }) => kind === 'server');
  }

  /** The decisions about the tools of a server, by own name. */
  ofTools(server: string): ReadonlyMap<string, ReviewedDecision> {
    return new Map(
      this.aboutServer(server).flatMap((item) => (item.tool === undefined ? [] : [[item.tool, item]])),
    );
  }

  ofTool(server: string, tool: string): ReviewedDecision | undefined {
    const tools = this.store.current.servers.get(server)?.tools;
    return tools && Object.hasOwn(tools, tool)
      ? this.review(toolDecisionItem(server, tool, tools[tool]!))
      : undefined;
  }

  ofProject(id: string): ReviewedDecision | undefined {
    const value = this.store.current.projects.get(id);
    return value && this.review(projectDecisionItem(id, value));
  }

  find(id: string): ReviewedDecision | undefined {
    const item = decisionItems(this.store.current).find((candidate) => candidate.id === id);
    return item && this.review(item);
  }

  /** Ids of the decisions that overrule the configuration file. */
  overruling(): string[] {
    return this.all().flatMap(({ id, overrules }) => (overrules ? [id] : []));
  }

  /**
   * Extends a change of the decisions. Of the changed decisions, the returned change drops those that equal the file,
   * and stamps the others with administrator and time. It stamps the decision with the id `renewedDecisionId` even if
   * its value is the same.
   */
  complete(change: (decisions: Decisions) => Decisions, by: string, renewedDecisionId?: string) {
    return (before: Decisions): Decisions => {
      const after = withoutRedundant(change(before), this.live.current, before);
      const emergency = this.isFilePolicy ? ({ emergency: true } as const) : {};
      const stamp = { by, at: new Date().toISOString(), ...emergency };
      return stampChanges(before, after, stamp, renewedDecisionId);
    };
  }

  private aboutServer(id: string): ReviewedDecision[] {
    const decision = this.store.current.servers.get(id);
    return decision ? serverDecisionItems(id, decision).map((item) => this.review(item)) : [];
  }

  private review({ value, ...item }: DecisionItem): ReviewedDecision {
    const decisions = this.store.current;
    const stamp = decisions.stamps.get(item.id);
    const effect = effectOf({ ...item, value }, decisions, this.live.current);
    const overrules = effect === 'applied' && overrulesFile({ ...item, value }, this.live.current);
    const emergency = overrules && this.isFilePolicy;
    return { ...item, ...(stamp && { by: stamp.by, at: stamp.at }), effect, overrules, emergency };
  }

  private configChanged(now: GatehouseConfig, before: GatehouseConfig): void {
    this.dropRedundant();
    const overruled = decisionItems(withoutRedundant(this.store.current, now))
      .filter((item) => !isDeepStrictEqual(fileValueOf(item, now), fileValueOf(item, before)))
      .flatMap((item) => (this.review(item).overrules ? [item.id] : []));
    this.overruledChanges += overruled.length;
    if (overruled.length > 0)
      this.logger.warn({
        message:
          'decisions overrule changes of the configuration file; end a decision with `gatehouse decisions clear`',
        decisions: overruled,
      });
    if (now.decisions.policy !== before.decisions.policy) this.logIgnored();
  }

  private logIgnored(): void {
    const ignored = this.all().flatMap(({ id, effect }) => (effect === 'ignored' ? [id] : []));
    if (ignored.length > 0)
      this.logger.warn({
        message: 'decisions are ignored, because decisions.policy is file',
        decisions: ignored,
      });
  }

  /**
   * Drops the decisions that equal the configuration file. Does not wait until the store has dropped them, because these
   * decisions have no effect until the file changes again.
   */
  private dropRedundant(): void {
    const { current } = this.store;
    const remaining = new Set(itemIdsIn(withoutRedundant(current, this.live.current)));
    const dropped = itemIdsIn(current).filter((id) => !remaining.has(id));
    if (dropped.length === 0) return;
    // No decision gets the empty stamp, because the remaining decisions keep their values.
    const drop = (before: Decisions): Decisions =>
      stampChanges(before, withoutRedundant(before, this.live.current), { by: '', at: '' });
    this.store.update(drop).then(
      () =>
        this.logger.log({
          message: 'decisions that equal the configuration file were dropped',
          decisions: dropped,
        }),
      (error: unknown) =>
        this.logger.warn({
          message: 'decisions that equal the configuration file could not be dropped',
          cause: String(error),
        }),
    );
  }

  private countByEffect() {
    const counts = { applied: 0, overruling: 0, ignored: 0, unused: 0 };
    for (const { effect, overrules } of this.all()) counts[overrules ? 'overruling' : effect]++;
    return Object.entries(counts).map(([effect, count]) => [{ effect }, count] as const);
  }
}

const itemIdsIn = (decisions: Decisions): string[] => decisionItems(decisions).map(({ id }) => id);

function effectOf(item: DecisionItem, decisions: Decisions, config: GatehouseConfig): DecisionEffect {
  const { kind, id, target, change } = item;
  if (kind === 'key')
    return config.auth.apiKeys?.some((key) => key.id === target && isRevokedKey(key, decisions))
      ? 'applied'
      : 'unused';
  const isFilePolicy = config.decisions.policy === 'file';
  if (kind === 'project') {
    const isDeclared = config.projects.has(target);
    if (isDeclared && isFilePolicy) return 'ignored';
    return isDeclared || change === 'defined' ? 'applied' : 'unused';
  }
  if (!config.mcpServers.has(target)) return decisions.servers.get(target)?.definition ? 'applied' : 'unused';
  const isEmergency = change === 'disabled' && decisions.stamps.get(id)?.emergency === true;
  return isFilePolicy && !isEmergency ? 'ignored' : 'applied';
}

/** The value in the configuration file that the decision replaces; undefined if the file does not have one. */
function fileValueOf({ kind, target, tool, change }: DecisionItem, config: GatehouseConfig): unknown {
  if (kind === 'key') return config.auth.apiKeys?.find((key) => key.id === target);
  if (kind === 'project') return config.projects.get(target);
  const server = config.mcpServers.get(target);
  if (kind === 'tool') return server && !server.tools.disabled.includes(tool!);
  return change === 'defined' || change === 'removed' ? server : server?.enabled;
}

/**
 * Whether a decision that applies differs from the file. Definitions are not compared: `withoutRedundant` has dropped
 * those that equal the file.
 */
function overrulesFile(item: DecisionItem, config: GatehouseConfig): boolean {
  const fileValue = fileValueOf(item, config);
  return fileValue !== undefined && (typeof fileValue !== 'boolean' || fileValue !== item.value);
}
