import { Injectable } from '@nestjs/common';
import { DesiredServers } from '../backends/desired-servers.js';
import { publicSessionId } from '../edge/session.js';
import { Projects } from '../projects/projects.service.js';
import { Subscribers } from '../subscriptions/subscribers.js';
import type { ConnectedClient } from './connected-clients.js';
import type { SessionDetailDto, SessionDto, SessionScopeDto } from './dto/session.dto.js';

type Activity = Pick<
  SessionDto,
  'lastSeen' | 'calls' | 'inFlight' | 'streams' | 'unfinishedLists' | 'listChanges'
>;

/** Sessions and listen streams as the admin API shows them. */
@Injectable()
export class SessionViews {
  constructor(
    private readonly desired: DesiredServers,
    private readonly projects: Projects,
    private readonly subscribers: Subscribers,
  ) {}

  summary(client: ConnectedClient): SessionDto {
    const { kind, clientInfo, project, principal, revision, openedAt, hasStream } = client;
    return {
      id: publicSessionId(client),
      kind,
      ...(clientInfo && { client: { name: clientInfo.name, version: clientInfo.version } }),
      principal: principal.id,
      ...(project === undefined ? {} : { project }),
      scope: this.scopeOf(client),
      protocolVersion: revision.version,
      era: revision.era,
      opened: new Date(openedAt).toISOString(),
      hasStream,
      subscriptions: this.subscriptionsOf(client),
      ...activityOf(client),
    };
  }

  detail(client: ConnectedClient): SessionDetailDto {
    return Object.assign(this.summary(client), { servers: this.enabledServers(client) });
  }

  subscriptionsOf({ id }: Pick<ConnectedClient, 'id'>): number {
    return this.subscribers.table.countOfSubscriber(id);
  }

  private scopeOf(client: ConnectedClient): SessionScopeDto[] {
    const { project, principal } = client;
    if (project === undefined && principal.grants === '*') return [{ servers: this.enabledServers(client) }];
    const ids = project === undefined ? Array.from(principal.grants).toSorted() : [project];
    return ids.map((id) => {
      const servers = this.projects.find(id)?.servers ?? [];
      return { project: id, servers: this.enabledServers(client, servers) };
    });
  }

  private enabledServers(
    { scope }: ConnectedClient,
    ids: Iterable<string> = this.desired.current.keys(),
  ): string[] {
    return [...ids].filter((id) => this.desired.current.get(id)?.enabled === true && scope.allows(id));
  }
}

function activityOf(client: ConnectedClient): Activity {
  if (client.kind === 'listen') {
    const { listChanges, hasStream } = client;
    const lastSeen = new Date().toISOString();
    return {
      lastSeen,
      calls: 0,
      inFlight: 0,
      streams: Number(hasStream),
      unfinishedLists: [],
      listChanges: [...listChanges],
    };
  }
  const { idleMs, calls, inFlight, streams, unfinishedLists } = client;
  return {
    lastSeen: new Date(Date.now() - idleMs).toISOString(),
    calls,
    inFlight,
    streams: streams.connectedCount,
    unfinishedLists: [...unfinishedLists],
  };
}
