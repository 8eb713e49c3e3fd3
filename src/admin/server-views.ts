import { Injectable } from '@nestjs/common';
import type { BackendStatus } from '../backends/backend-status.js';
import { Backends } from '../backends/backends.service.js';
import { DesiredServers, type DesiredServer } from '../backends/desired-servers.js';
import type { LastFailure } from '../backends/lifecycle/server-connection.js';
import { failureCauseOf } from '../backends/link/failure-cause.js';
import { UNSHARED_CAPABILITIES } from '../backends/link/link-factory.js';
import { DecisionReview } from '../decisions/decision-review.js';
import { UNFETCHED_LISTING } from '../core/catalog/catalog.js';
import { EVERYTHING } from '../core/scope.js';
import type { JsonObject } from '../lib/json-text/json-value.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { Registry } from '../registry/registry.service.js';
import { notFound } from './admin-problem.js';
import type { AdminRole } from './admin-tokens.js';
import type { ServerDetailDto, ServerDto, ServerFailureDto, ServerToolDto } from './dto/server.dto.js';
import { EntityTags } from './entity-tags.js';
import { MASK } from './restore-args.js';
import { SecretRedactor } from './secret-redactor.js';
import { definitionOf, maskSecrets } from './server-definition.js';
import { toolOrigin } from './tool-origin.js';

interface ListedTool {
  readonly name: string;
  readonly text: string;
}

/** Servers as the admin API shows them: their desired and their actual state. */
@Injectable()
export class ServerViews {
  constructor(
    private readonly desired: DesiredServers,
    private readonly backends: Backends,
    private readonly registry: Registry,
    private readonly tags: EntityTags,
    private readonly secrets: SecretRedactor,
    private readonly review: DecisionReview,
  ) {}

  all(): ServerDto[] {
    return [...this.desired.current.values()].map((server) => this.summary(server));
  }

  find(id: string): DesiredServer | undefined {
    return this.desired.current.get(id);
  }

  /** Whether the server is in the configuration file and was deleted through the admin API. */
  isRemoved(id: string): boolean {
    return this.desired.isRemoved(id);
  }

  /** Throws a problem when there is no such server. */
  get(id: string): DesiredServer {
    const server = this.find(id);
    if (!server) throw notFound('server', id);
    return server;
  }

  /** The entity tag of the server. It changes with the definition and its origin, not with the connection state. */
  etag(server: DesiredServer | undefined): string | undefined {
    return server && this.tags.of([server.id, server.origin, definitionOf(server)]);
  }

  summary(server: DesiredServer): ServerDto {
    const { id, enabled, origin, config } = server;
    const backend = this.backends.find(id);
    const { tools, prompts, resources, templates } = backend?.listing ?? UNFETCHED_LISTING;
    const decisions = this.review.ofServer(id);
    const enabledTools = tools.filter(({ name }) => !server.disabledTools.has(name)).length;
    return {
      id,
      enabled,
      transport: config.type,
      origin,
      ...(decisions.length > 0 && { decisions }),
      ...(backend ? statusOf(backend.status()) : DISABLED_STATUS),
      counts: {
        tools: enabledTools,
        disabledTools: tools.length - enabledTools,
        prompts: prompts.length,
        resources: resources.size,
        templates: templates.length,
      },
    };
  }

  async detail(server: DesiredServer, role: AdminRole): Promise<ServerDetailDto> {
    const tools = await this.tools(server);
    const status = this.backends.find(server.id)?.status();
    return Object.assign(this.summary(server), {
      definition: this.secrets.keepMasked(this.shownDefinition(server, role)),
      ...(hasClientCapabilities(server, status) ? {} : { missingCapabilities: [...UNSHARED_CAPABILITIES] }),
      stderr: [...(status?.stderr ?? [])],
      ...(status?.lastFailure && { lastFailure: failureOf(status.lastFailure) }),
      tools,
    });
  }

  /**
   * The definition as callers of this role see it. Only an admin sees secrets in arguments and URLs. Admin tokens, and values
   * that the configuration took from the environment of the gateway, are masked for every role.
   */
  shownDefinition(server: DesiredServer, role: AdminRole): JsonObject {
    return maskSecrets(definitionOf(server), {
      maskText: (text) => this.secrets.maskText(text, MASK, role),
      masksArgsAndUrls: role !== 'admin',
    });
  }

  /** All tools of the last sync, disabled ones included. Collected in slices, because a server may list thousands. */
  async tools(server: DesiredServer): Promise<ServerToolDto[]> {
    const toolDto = this.toolDtoOf(server);
    const yieldIfDue = sliceScheduler.start();
    const tools: ServerToolDto[] = [];
    for (const tool of this.listedTools(server.id) ?? []) {
      const pause = yieldIfDue();
      if (pause) await pause;
      tools.push(toolDto(tool));
    }
    return tools;
  }

  private toolDtoOf({ id, disabledTools }: DesiredServer): (tool: ListedTool) => ServerToolDto {
    const table = this.registry.catalog.tools;
    const view = table.view(EVERYTHING);
    const entries = table.part(id)?.byOwnName;
    const decisions = this.review.ofTools(id);
    return ({ name: ownName, text }) => {
      const entry = entries?.get(ownName);
      const name = entry && view.listedEntry(entry)?.publicName;
      const enabled = !disabledTools.has(ownName);
      const definition = JSON.parse(text) as JsonObject;
      return {
        ownName,
        own: ownName,
        ...(name === undefined ? {} : { name }),
        enabled,
        ...toolOrigin(decisions.get(ownName)),
        ...titleAndDescription(definition),
        ...(enabled ? {} : { definition }),
      };
    };
  }

  /** The tools of the last sync; undefined while the server is disabled or before its first sync. */
  listedTools(id: string): readonly ListedTool[] | undefined {
    return this.backends.find(id)?.listing?.tools;
  }
}

/**
 * Whether the gateway declares the capabilities of each client to the server: on links that clients do not share
 * (`isolation: session`), or in each request (a server of the 2026 era).
 */
const hasClientCapabilities = ({ config }: DesiredServer, status: BackendStatus | undefined): boolean =>
  config.isolation === 'session' || status?.era?.name === '2026';

const DISABLED_STATUS = {
  state: 'disabled',
  attempts: 0,
  restarts: 0,
  calls: 0,
  inFlight: 0,
  waiting: 0,
} as const;

function statusOf(status: BackendStatus) {
  const { state, cause, reason, since, attempts, restarts, calls, inFlight, waiting, pid, facts } = status;
  const { notificationStream, updates, downSince, nextAttemptAt, era } = status;
  return {
    state,
    since: new Date(since).toISOString(),
    attempts,
    restarts,
    calls,
    inFlight,
    waiting,
    ...(downSince === undefined ? {} : { downSince: new Date(downSince).toISOString() }),
    ...(nextAttemptAt === undefined ? {} : { nextAttempt: new Date(nextAttemptAt).toISOString() }),
    ...(cause && { cause }),
    ...(reason === undefined ? {} : { reason }),
    ...(pid === undefined ? {} : { pid }),
    ...(facts && { serverInfo: facts.serverInfo, protocolVersion: facts.protocolVersion }),
    ...(facts?.alsoOffers !== undefined && { alsoOffers: facts.alsoOffers }),
    ...(era && { era: era.name, eraSince: new Date(era.since).toISOString() }),
    ...(notificationStream && { notificationStream }),
    ...(updates && { updates }),
  };
}

const failureOf = ({ at, error, stderr }: LastFailure): ServerFailureDto => ({
  time: new Date(at).toISOString(),
  cause: failureCauseOf(error),
  reason: error.message,
  stderr: [...stderr],
});

function titleAndDescription({ title, description }: JsonObject): { title?: string; description?: string } {
  return {
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
  };
}
