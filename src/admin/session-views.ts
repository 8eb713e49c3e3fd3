import { Injectable } from '@nestjs/common';
import { DesiredServers } from '../backends/desired-servers.js';
import { publicSessionId, type Session } from '../edge/session.js';
import { Projects } from '../projects/projects.service.js';
import { Subscribers } from '../subscriptions/subscribers.js';
import type { SessionDetailDto, SessionDto, SessionScopeDto } from './dto/session.dto.js';

/** Sessions as the admin API shows them. */
@Injectable()
export class SessionViews {
  constructor(
    private readonly desired: DesiredServers,
    private readonly projects: Projects,
    private readonly subscribers: Subscribers,
  ) {}

  summary(session: Session): SessionDto {
    const { clientInfo, project, principal, revision, openedAt, inFlight, calls, streams } = session;
    return {
      id: publicSessionId(session),
      ...(clientInfo && { client: { name: clientInfo.name, version: clientInfo.version } }),
      principal: principal.id,
      ...(project === undefined ? {} : { project }),
      scope: this.scopeOf(session),
      protocolVersion: revision.version,
      era: revision.era,
      opened: new Date(openedAt).toISOString(),
      lastSeen: new Date(Date.now() - session.idleMs).toISOString(),
      calls,
      inFlight,
      streams: streams.connectedCount,
      hasStream: session.hasStream,
      subscriptions: this.subscriptionsOf(session),
      unfinishedLists: [...session.unfinishedLists],
    };
  }

  detail(session: Session): SessionDetailDto {
    return Object.assign(this.summary(session), { servers: this.enabledServers(session) });
  }

  subscriptionsOf({ id }: Pick<Session, 'id'>): number {
    return this.subscribers.table.countOfSubscriber(id);
  }

  private scopeOf(session: Session): SessionScopeDto[] {
    const { project, principal } = session;
    if (project === undefined && principal.grants === '*') return [{ servers: this.enabledServers(session) }];
    const ids = project === undefined ? Array.from(principal.grants).toSorted() : [project];
    return ids.map((id) => {
      const servers = this.projects.find(id)?.servers ?? [];
      return { project: id, servers: this.enabledServers(session, servers) };
    });
  }

  private enabledServers({ scope }: Session, ids: Iterable<string> = this.desired.current.keys()): string[] {
    return [...ids].filter((id) => this.desired.current.get(id)?.enabled === true && scope.allows(id));
  }
}
