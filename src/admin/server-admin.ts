import { Injectable } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';
import type { DesiredServer } from '../backends/desired-servers.js';
import { decideServer } from '../state/decisions.js';
import type { ServerDecision } from '../state/decision-store.js';
import { AdminSettings } from '../config/admin-settings.js';
import { LiveConfig } from '../config/live-config.js';
import type { ServerConfig } from '../config/servers-config.js';
import { AdminProblem, notFound } from './admin-problem.js';
import type { AdminCaller } from './admin-caller.js';
import { AdminActions, type AdminAction, type PlannedChange } from './admin-actions.js';
import { mergePatch } from './merge-patch.js';
import type { PlainObject } from './plain-object.js';
import { readDefinition } from './read-definition.js';
import {
  changedKeys,
  definitionOf,
  definitionOfConfig,
  sameCommand,
  sameDefinition,
  unmasked,
} from './server-definition.js';
import type { ServerDetailDto } from './dto/server.dto.js';
import { ServerViews } from './server-views.js';

/** A server that does not come up delays an answer no longer than this. */
const SETTLE_MS = 10_000;

export interface TaggedServer {
  readonly server: ServerDetailDto;
  readonly etag: string;
}

/** Changes servers. Each change is durable first, and lists and routing have followed before it is answered. */
@Injectable()
export class ServerAdmin {
  constructor(
    private readonly views: ServerViews,
    private readonly changes: AdminActions,
    private readonly backends: Backends,
    private readonly live: LiveConfig,
    private readonly settings: AdminSettings,
  ) {}

  show(id: string): TaggedServer {
    const server = this.views.get(id);
    return { server: this.views.detail(server), etag: this.views.etag(server)! };
  }

  /** True when the server was not there before. */
  async put(
    by: AdminCaller,
    id: string,
    definition: PlainObject,
  ): Promise<TaggedServer & { created: boolean }> {
    let created = false;
    await this.changes.run(by, deed('server.put', id), () => {
      const before = this.views.find(id);
      by.precondition.require(this.views.etag(before));
      created = before === undefined;
      return this.replacement(id, before, definition, definition);
    });
    return { ...(await this.settled(id)), created };
  }

  async patch(by: AdminCaller, id: string, patch: PlainObject): Promise<TaggedServer> {
    await this.changes.run(by, deed('server.patch', id), () => {
      const before = this.required(by, id);
      const merged = mergePatch(definitionOf(before), patch) as PlainObject;
      return this.replacement(id, before, merged, patch);
    });
    return this.settled(id);
  }

  async remove(by: AdminCaller, id: string): Promise<void> {
    await this.changes.run(by, deed('server.delete', id), () => {
      this.required(by, id);
      // What stands in the file would come back with the next start if it were merely forgotten.
      const isDeclared = this.live.current.mcpServers.has(id);
      return { apply: this.decision(id, () => (isDeclared ? { removed: true } : {})) };
    });
  }

  async setEnabled(by: AdminCaller, id: string, enabled: boolean): Promise<TaggedServer> {
    await this.changes.run(by, deed(enabled ? 'server.enable' : 'server.disable', id), () => {
      if (enabled && this.views.isRemoved(id)) return this.recovery(by, id);
      if (this.required(by, id).enabled === enabled) return undefined;
      return { apply: this.decision(id, (before) => ({ ...before, enabled })) };
    });
    return this.settled(id);
  }

  async setTool(by: AdminCaller, id: string, tool: string, enabled: boolean): Promise<TaggedServer> {
    const target = `${id}/${tool}`;
    await this.changes.run(by, deed(enabled ? 'tool.enable' : 'tool.disable', target), () => {
      const { disabledTools } = this.required(by, id);
      this.requireTool(id, tool, disabledTools);
      if (disabledTools.has(tool) !== enabled) return undefined;
      return {
        apply: this.decision(id, (before) => ({ ...before, tools: { ...before.tools, [tool]: enabled } })),
      };
    });
    return this.listed(id);
  }

  async reconnect(by: AdminCaller, id: string): Promise<TaggedServer> {
    await this.changes.run(by, deed('server.reconnect', id), () => {
      this.required(by, id);
      const backend = this.backends.find(id);
      if (!backend) throw new AdminProblem('conflict', `server \`${id}\` is disabled; enable it first`);
      return { apply: () => backend.reconnect() };
    });
    return this.settled(id);
  }

  private required(by: AdminCaller, id: string): DesiredServer {
    const server = this.views.get(id);
    by.precondition.require(this.views.etag(server));
    return server;
  }

  /** Takes back that a server was taken away: the file says what it is, so that nobody can slip in another. */
  private recovery(by: AdminCaller, id: string): PlannedChange {
    by.precondition.require(undefined);
    return { apply: this.decision(id, () => ({ enabled: true })) };
  }

  /** What is decided in a definition takes the place of everything decided about the server before. */
  private replacement(
    id: string,
    before: DesiredServer | undefined,
    wanted: PlainObject,
    given: PlainObject,
  ): PlannedChange | undefined {
    const current = before && definitionOf(before);
    const definition = unmasked(wanted, given, current);
    const config = readDefinition(id, definition);
    const after = definitionOfConfig(config);
    if (current && sameDefinition(current, after)) return undefined;
    this.requireCommand(id, before, config);
    return {
      summary: { changed: changedKeys(current ?? {}, after), transport: config.type },
      apply: this.decision(id, () => ({ definition })),
    };
  }

  /** A command runs with the rights of the gateway, so that a token alone does not suffice to choose one. */
  private requireCommand(id: string, before: DesiredServer | undefined, config: ServerConfig): void {
    if (config.type !== 'stdio' || this.settings.allowStdio) return;
    const known = [before?.config, this.live.current.mcpServers.get(id)];
    if (known.some((other) => other && sameCommand(other, config))) return;
    throw new AdminProblem(
      'stdio-not-allowed',
      'command, args, env and cwd of a server can be set through the API only with `admin.allowStdio: true`',
    );
  }

  private requireTool(id: string, tool: string, disabled: ReadonlySet<string>): void {
    const listing = this.views.listing(id);
    if (disabled.has(tool) || listing?.some(({ name }) => name === tool)) return;
    if (!listing) throw new AdminProblem('conflict', `what server \`${id}\` offers is not known right now`);
    throw notFound('tool', tool);
  }

  private decision(id: string, decide: (before: ServerDecision) => ServerDecision): PlannedChange['apply'] {
    return this.changes.decide((decisions) => decideServer(decisions, id, decide));
  }

  private async settled(id: string): Promise<TaggedServer> {
    await this.backends.find(id)?.whenSynced(SETTLE_MS);
    return this.listed(id);
  }

  private async listed(id: string): Promise<TaggedServer> {
    await this.backends.whenListed();
    return this.show(id);
  }
}

const deed = (action: string, target: string): AdminAction => ({ action, target });
