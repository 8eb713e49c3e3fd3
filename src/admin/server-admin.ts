import { Injectable } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';
import type { DesiredServer } from '../backends/desired-servers.js';
import type { JsonObject } from '../lib/json-text/json-value.js';
import { decideServer } from '../state/decisions.js';
import type { ServerDecision } from '../state/decision-store.js';
import { AdminSettings } from '../config/admin-settings.js';
import { LiveConfig } from '../config/live-config.js';
import type { ServerConfig } from '../config/servers-config.js';
import { AdminProblem, notFound } from './admin-problem.js';
import type { AdminCaller } from './admin-caller.js';
import { AdminActions, type AdminAction, type PlannedChange } from './admin-actions.js';
import { mergePatch } from './merge-patch.js';
import {
  changedKeys,
  definitionOf,
  definitionOfConfig,
  hasSameCommand,
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

/** Changes servers. A change is durable before it takes effect, and catalog and routing follow before the response. */
@Injectable()
export class ServerAdmin {
  constructor(
    private readonly views: ServerViews,
    private readonly actions: AdminActions,
    private readonly backends: Backends,
    private readonly live: LiveConfig,
    private readonly settings: AdminSettings,
  ) {}

  show(id: string): TaggedServer {
    const server = this.views.get(id);
    return { server: this.views.detail(server), etag: this.views.etag(server)! };
  }

  /** `created` is true when the server is new. */
  async put(
    caller: AdminCaller,
    id: string,
    definition: JsonObject,
  ): Promise<TaggedServer & { created: boolean }> {
    let created = false;
    await this.actions.run(caller, actionOn('server.put', id), () => {
      const before = this.views.find(id);
      caller.precondition.require(this.views.etag(before));
      created = before === undefined;
      return this.replacement(id, before, definition, definition);
    });
    return { ...(await this.afterFirstSync(id)), created };
  }

  async patch(caller: AdminCaller, id: string, patch: JsonObject): Promise<TaggedServer> {
    await this.actions.run(caller, actionOn('server.patch', id), () => {
      const before = this.required(caller, id);
      const merged = mergePatch(definitionOf(before), patch) as JsonObject;
      return this.replacement(id, before, merged, patch);
    });
    return this.afterFirstSync(id);
  }

  async remove(caller: AdminCaller, id: string): Promise<void> {
    await this.actions.run(caller, actionOn('server.delete', id), () => {
      this.required(caller, id);
      // Without this decision, a server of the configuration file would return at the next start.
      const isDeclared = this.live.current.mcpServers.has(id);
      return { apply: this.decision(id, () => (isDeclared ? { removed: true } : {})) };
    });
  }

  async setEnabled(caller: AdminCaller, id: string, enabled: boolean): Promise<TaggedServer> {
    await this.actions.run(caller, actionOn(enabled ? 'server.enable' : 'server.disable', id), () => {
      if (enabled && this.views.isRemoved(id)) return this.undeletion(caller, id);
      if (this.required(caller, id).enabled === enabled) return undefined;
      return { apply: this.decision(id, (before) => ({ ...before, enabled })) };
    });
    return this.afterFirstSync(id);
  }

  async setTool(caller: AdminCaller, id: string, tool: string, enabled: boolean): Promise<TaggedServer> {
    const target = `${id}/${tool}`;
    await this.actions.run(caller, actionOn(enabled ? 'tool.enable' : 'tool.disable', target), () => {
      const { disabledTools } = this.required(caller, id);
      this.requireTool(id, tool, disabledTools);
      if (disabledTools.has(tool) !== enabled) return undefined;
      return {
        apply: this.decision(id, (before) => ({ ...before, tools: { ...before.tools, [tool]: enabled } })),
      };
    });
    return this.afterCatalogBuild(id);
  }

  async reconnect(caller: AdminCaller, id: string): Promise<TaggedServer> {
    await this.actions.run(caller, actionOn('server.reconnect', id), () => {
      this.required(caller, id);
      const backend = this.backends.find(id);
      if (!backend) throw new AdminProblem('conflict', `server \`${id}\` is disabled; enable it first`);
      return { apply: () => backend.reconnect() };
    });
    return this.afterFirstSync(id);
  }

  private required(caller: AdminCaller, id: string): DesiredServer {
    const server = this.views.get(id);
    caller.precondition.require(this.views.etag(server));
    return server;
  }

  /** Undoes a deletion. The definition comes from the configuration file only. */
  private undeletion(caller: AdminCaller, id: string): PlannedChange {
    caller.precondition.require(undefined);
    return { apply: this.decision(id, () => ({ enabled: true })) };
  }

  /** A new definition replaces every earlier decision about the server. */
  private replacement(
    id: string,
    before: DesiredServer | undefined,
    wanted: JsonObject,
    given: JsonObject,
  ): PlannedChange | undefined {
    const current = before && definitionOf(before);
    const definition = restoreMasked(wanted, given, current);
    const config = readDefinition(id, definition);
    const after = definitionOfConfig(config);
    if (current && isSameDefinition(current, after)) return undefined;
    this.requireCommand(id, before, config);
    return {
      summary: { changed: changedKeys(current ?? {}, after), transport: config.type },
      apply: this.decision(id, () => ({ definition })),
    };
  }

  /** A command runs with the rights of the gateway, so the admin token alone does not allow to choose one. */
  private requireCommand(id: string, before: DesiredServer | undefined, config: ServerConfig): void {
    if (config.type !== 'stdio' || this.settings.allowStdio) return;
    const known = [before?.config, this.live.current.mcpServers.get(id)];
    if (known.some((other) => other && hasSameCommand(other, config))) return;
    throw new AdminProblem(
      'stdio-not-allowed',
      'command, args, env and cwd of a server can be set through the API only with `admin.allowStdio: true`',
    );
  }

  private requireTool(id: string, tool: string, disabled: ReadonlySet<string>): void {
    const listing = this.views.listing(id);
    if (disabled.has(tool) || listing?.some(({ name }) => name === tool)) return;
    if (!listing)
      throw new AdminProblem(
        'conflict',
        `the tools of server \`${id}\` are not known: it has not connected yet`,
      );
    throw notFound('tool', tool);
  }

  private decision(id: string, decide: (before: ServerDecision) => ServerDecision): PlannedChange['apply'] {
    return this.actions.decide((decisions) => decideServer(decisions, id, decide));
  }

  private async afterFirstSync(id: string): Promise<TaggedServer> {
    await this.backends.find(id)?.whenSynced(FIRST_SYNC_TIMEOUT_MS);
    return this.afterCatalogBuild(id);
  }

  /** The catalog is built asynchronously; the response follows it. */
  private async afterCatalogBuild(id: string): Promise<TaggedServer> {
    await this.backends.whenListed();
    return this.show(id);
  }
}

const actionOn = (action: string, target: string): AdminAction => ({ action, target });
