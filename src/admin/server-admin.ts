import { Injectable } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';
import { REFUSED_BY_POLICY } from '../backends/address-policy.js';
import type { DesiredServer } from '../backends/desired-servers.js';
import type { JsonObject } from '../lib/json-text/json-value.js';
import { enabledDecisionId, toolDecisionId, withoutDecision } from '../state/decision-items.js';
import { decideServer } from '../state/decisions.js';
import type { Decisions, ServerDecision } from '../state/decision-store.js';
import { LiveConfig } from '../config/live-config.js';
import { AdminProblem, notFound } from './admin-problem.js';
import type { AdminCaller } from './admin-caller.js';
import { ADMIN_ROLES, type AdminRole } from './admin-tokens.js';
import { AdminActions, type AdminAction, type PlannedChange } from './admin-actions.js';
import { DefinitionPolicy } from './definition-policy.js';
import { FilePolicy } from './file-policy.js';
import { mergePatch } from './merge-patch.js';
import {
  changedKeys,
  definitionOf,
  definitionOfConfig,
  isSameDefinition,
  readDefinition,
  restoreMasked,
} from './server-definition.js';
import type { ServerDetailDto } from './dto/server.dto.js';
import { ServerViews } from './server-views.js';

/** Maximum time that a response waits for the first sync of a server. */
const FIRST_SYNC_TIMEOUT_MS = 10_000;

export interface TaggedServer {
  readonly server: ServerDetailDto;
  readonly etag: string;
}

/** Changes servers. A change is stored before it takes effect, and applied to catalog and routing before the response. */
@Injectable()
export class ServerAdmin {
  constructor(
    private readonly views: ServerViews,
    private readonly actions: AdminActions,
    private readonly backends: Backends,
    private readonly live: LiveConfig,
    private readonly definitionPolicy: DefinitionPolicy,
    private readonly filePolicy: FilePolicy,
  ) {}

  async show(id: string, role: AdminRole): Promise<TaggedServer> {
    const server = this.views.get(id);
    return { server: await this.views.detail(server, role), etag: this.views.etag(server)! };
  }

  /** `created` is true when the server is new. */
  async put(
    caller: AdminCaller,
    id: string,
    definition: JsonObject,
  ): Promise<TaggedServer & { created: boolean }> {
    let created = false;
    const isAddressAllowed = await this.definitionPolicy.allowsAddress(id, definition);
    await this.actions.run(caller, actionOn('server.put', id), () => {
      const before = this.views.find(id);
      caller.precondition.require(this.views.etag(before));
      created = before === undefined;
      const change = this.planReplacement(caller, id, before, definition, definition);
      return refuseUnless(isAddressAllowed, change);
    });
    return { ...(await this.showAfterFirstSync(id)), created };
  }

  /** `changed` are the keys of the definition that have another value now. */
  async patch(
    caller: AdminCaller,
    id: string,
    patch: JsonObject,
  ): Promise<TaggedServer & { changed: string[] }> {
    let changed: string[] = [];
    const isAddressAllowed = await this.definitionPolicy.allowsAddress(id, patch);
    await this.actions.run(caller, actionOn('server.patch', id), () => {
      const before = this.requireServer(caller, id);
      const merged = mergePatch(definitionOf(before), patch) as JsonObject;
      const change = this.planReplacement(caller, id, before, merged, patch);
      changed = change?.changed ?? [];
      return refuseUnless(isAddressAllowed, change);
    });
    return { ...(await this.showAfterFirstSync(id)), changed };
  }

  async remove(caller: AdminCaller, id: string): Promise<void> {
    await this.actions.run(caller, actionOn('server.delete', id), () => {
      this.requireServer(caller, id);
      this.filePolicy.requireChangeable('server', id);
      // Without the decision `removed`, a server of the configuration file would return at the next start.
      const isInConfigFile = this.live.current.mcpServers.has(id);
      return { apply: this.decisionUpdate(caller, id, () => (isInConfigFile ? { removed: true } : {})) };
    });
  }

  async setEnabled(caller: AdminCaller, id: string, enabled: boolean): Promise<TaggedServer> {
    await this.actions.run(caller, actionOn(enabled ? 'server.enable' : 'server.disable', id), () => {
      if (enabled && this.views.isRemoved(id)) return this.planUndelete(caller, id);
      if (this.requireServer(caller, id).enabled === enabled) return undefined;
      const isProtected = this.filePolicy.protects('server', id);
      if (enabled && isProtected) this.filePolicy.requireEnabledInFile(id);
      // To enable a protected server, the decision that disabled it is removed: the file enables the server (checked above).
      const decidedValue = enabled && isProtected ? undefined : enabled;
      const decide = (before: ServerDecision): ServerDecision => ({ ...before, enabled: decidedValue });
      return { apply: this.decisionUpdate(caller, id, decide, enabledDecisionId(id)) };
    });
    return this.showAfterFirstSync(id);
  }

  async setToolEnabled(
    caller: AdminCaller,
    id: string,
    tool: string,
    enabled: boolean,
  ): Promise<TaggedServer> {
    const target = `${id}/${tool}`;
    await this.actions.run(caller, actionOn(enabled ? 'tool.enable' : 'tool.disable', target), () => {
      const { disabledTools } = this.requireServer(caller, id);
      this.requireTool(id, tool, disabledTools);
      const isEnabled = !disabledTools.has(tool);
      if (isEnabled === enabled) return undefined;
      if (enabled && this.filePolicy.protects('server', id)) {
        this.filePolicy.requireEnabledInFile(id, tool);
        return {
          apply: this.actions.decisionUpdate(caller, (all) => withoutDecision(all, toolDecisionId(id, tool))),
        };
      }
      const decide = ({ tools, ...before }: ServerDecision): ServerDecision => ({
        ...before,
        tools: { ...tools, [tool]: enabled },
      });
      return { apply: this.decisionUpdate(caller, id, decide, toolDecisionId(id, tool)) };
    });
    await this.backends.whenListed();
    return this.show(id, 'admin');
  }

  async reconnect(caller: AdminCaller, id: string): Promise<TaggedServer> {
    await this.actions.run(caller, actionOn('server.reconnect', id), () => {
      this.requireServer(caller, id);
      const backend = this.backends.find(id);
      if (!backend) throw new AdminProblem('conflict', `server \`${id}\` is disabled; enable it first`);
      return { apply: () => backend.reconnect() };
    });
    return this.showAfterFirstSync(id);
  }

  /** Throws a problem if the server does not exist or the precondition of the request fails. */
  private requireServer(caller: AdminCaller, id: string): DesiredServer {
    const server = this.views.get(id);
    caller.precondition.require(this.views.etag(server));
    return server;
  }

  /** Undoes a deletion: the definition in the configuration file applies again, without earlier decisions. */
  private planUndelete(caller: AdminCaller, id: string): PlannedChange {
    const etagOfDeletedServer = undefined;
    caller.precondition.require(etagOfDeletedServer);
    return { apply: this.decisionUpdate(caller, id, () => ({ enabled: true })) };
  }

  /**
   * Plans a new definition, which replaces every earlier decision about the server. `desired` is the whole new definition.
   * `sent` is what the caller sent: the whole definition for a PUT, a part of it for a PATCH. Returns undefined if the
   * definition does not change.
   */
  private planReplacement(
    caller: AdminCaller,
    id: string,
    before: DesiredServer | undefined,
    desired: JsonObject,
    sent: JsonObject,
  ): (PlannedChange & { readonly changed: string[] }) | undefined {
    const current = before && definitionOf(before);
    const shownForms = before ? ADMIN_ROLES.map((role) => this.views.shownDefinition(before, role)) : [];
    const definition = restoreMasked({ desired, sent, current, shownForms });
    const config = readDefinition(id, definition);
    const after = definitionOfConfig(config);
    if (current && isSameDefinition(current, after)) return undefined;
    this.filePolicy.requireChangeable('server', id);
    this.definitionPolicy.requireAllowedCommand(id, before, config);
    const changed = changedKeys(current ?? {}, after);
    return {
      changed,
      summary: { changed, transport: config.type },
      apply: this.decisionUpdate(caller, id, () => ({ definition })),
    };
  }

  /** Throws a problem if the tool does not exist, or if its server has not listed its tools yet. */
  private requireTool(id: string, tool: string, disabled: ReadonlySet<string>): void {
    const listed = this.views.listedTools(id);
    if (disabled.has(tool) || listed?.some(({ name }) => name === tool)) return;
    if (!listed)
      throw new AdminProblem(
        'conflict',
        `the tools of server \`${id}\` are not known: it is disabled or has not connected yet`,
      );
    throw notFound('tool', tool);
  }

  /**
   * The caller becomes the author of the decision with the id `renewedDecisionId`, even if the value of this decision stays
   * the same.
   */
  private decisionUpdate(
    caller: AdminCaller,
    id: string,
    decide: (before: ServerDecision) => ServerDecision,
    renewedDecisionId?: string,
  ): PlannedChange['apply'] {
    const change = (decisions: Decisions): Decisions => decideServer(decisions, id, decide);
    return this.actions.decisionUpdate(caller, change, renewedDecisionId);
  }

  /**
   * Resolves when the first sync of the server has ended or `FIRST_SYNC_TIMEOUT_MS` have passed, and the catalog contains
   * what the server lists.
   */
  async whenApplied(id: string): Promise<void> {
    await this.backends.find(id)?.whenSynced(FIRST_SYNC_TIMEOUT_MS);
    await this.backends.whenListed();
  }

  private async showAfterFirstSync(id: string): Promise<TaggedServer> {
    await this.whenApplied(id);
    // The caller is an admin, because only admins may change a server.
    return this.show(id, 'admin');
  }
}

/**
 * Refuses a change whose address is not allowed. `change` is undefined for a request that changes nothing: such a request
 * is allowed.
 */
function refuseUnless(
  isAddressAllowed: boolean,
  change: PlannedChange | undefined,
): PlannedChange | undefined {
  if (change && !isAddressAllowed) throw new AdminProblem('address-not-allowed', REFUSED_BY_POLICY);
  return change;
}

const actionOn = (action: string, target: string): AdminAction => ({ action, target });
