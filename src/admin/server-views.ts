import { Injectable } from '@nestjs/common';
import type { BackendStatus } from '../backends/backend-status.js';
import { Backends } from '../backends/backends.service.js';
import { DesiredServers, type DesiredServer } from '../backends/desired-servers.js';
import { EMPTY_LISTING } from '../core/catalog/catalog.js';
import { EVERYTHING } from '../core/scope.js';
import { Registry } from '../registry/registry.service.js';
import { notFound } from './admin-problem.js';
import type { ServerDetailDto, ServerDto, ServerToolDto } from './dto/server.dto.js';
import { EntityTags } from './entity-tags.js';
import type { PlainObject } from './plain-object.js';
import { definitionOf, masked } from './server-definition.js';

/** Servers as the admin API shows them: what is wanted of each, and how it is doing. */
@Injectable()
export class ServerViews {
  constructor(
    private readonly desired: DesiredServers,
    private readonly backends: Backends,
    private readonly registry: Registry,
    private readonly tags: EntityTags,
  ) {}

  all(): ServerDto[] {
    return [...this.desired.current.values()].map((server) => this.summary(server));
  }

  find(id: string): DesiredServer | undefined {
    return this.desired.current.get(id);
  }

  /** Whether it stands in the file and was taken away. */
  isRemoved(id: string): boolean {
    return this.desired.isRemoved(id);
  }

  /** Throws when there is no such server. */
  get(id: string): DesiredServer {
    const server = this.find(id);
    if (!server) throw notFound('server', id);
    return server;
  }

  /** Names what was decided about it, and not how it is doing. */
  etag(server: DesiredServer | undefined): string | undefined {
    return server && this.tags.of([server.id, server.origin, definitionOf(server)]);
  }

  summary(server: DesiredServer): ServerDto {
    const { id, enabled, origin, config } = server;
    const backend = this.backends.find(id);
    const { tools, prompts, resources, templates } = backend?.listing ?? EMPTY_LISTING;
    const offered = tools.filter(({ name }) => !server.disabledTools.has(name)).length;
    return {
      id,
      enabled,
      transport: config.type,
      origin,
      ...(backend ? statusOf(backend.status()) : NO_STATUS),
      counts: {
        tools: offered,
        disabledTools: tools.length - offered,
        prompts: prompts.length,
        resources: resources.size,
        templates: templates.length,
      },
    };
  }

  detail(server: DesiredServer): ServerDetailDto {
    return Object.assign(this.summary(server), {
      definition: masked(definitionOf(server)),
      stderr: [...(this.backends.find(server.id)?.status().stderr ?? [])],
      tools: this.tools(server),
    });
  }

  /** All it last listed, also those that clients do not see. */
  tools({ id, disabledTools }: DesiredServer): ServerToolDto[] {
    const names = new Map<string, string>();
    for (const { ownName, publicName } of this.registry.catalog.tools.view(EVERYTHING).after('', id))
      names.set(ownName, publicName);
    return (this.listing(id) ?? []).map(({ name: own, text }) => {
      const name = names.get(own);
      const enabled = !disabledTools.has(own);
      const definition = JSON.parse(text) as PlainObject;
      return {
        ownName: own,
        own,
        ...(name === undefined ? {} : { name }),
        enabled,
        ...wordsIn(definition),
        ...(enabled ? {} : { definition }),
      };
    });
  }

  /** The tools as the server last listed them; undefined when it is disabled or never answered. */
  listing(id: string): readonly { readonly name: string; readonly text: string }[] | undefined {
    return this.backends.find(id)?.listing?.tools;
  }
}

const NO_STATUS = { state: 'disabled', restarts: 0, calls: 0, inFlight: 0, waiting: 0 } as const;

function statusOf(status: BackendStatus) {
  const { state, reason, since, restarts, calls, inFlight, waiting, pid, facts } = status;
  return {
    state,
    since: new Date(since).toISOString(),
    restarts,
    calls,
    inFlight,
    waiting,
    ...(reason === undefined ? {} : { reason }),
    ...(pid === undefined ? {} : { pid }),
    ...(facts && { serverInfo: facts.serverInfo, protocolVersion: facts.protocolVersion }),
  };
}

/** What people read about a tool. */
function wordsIn({ title, description }: PlainObject): { title?: string; description?: string } {
  return {
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
  };
}
