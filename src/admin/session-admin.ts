import { Injectable } from '@nestjs/common';
import { DesiredServers } from '../backends/desired-servers.js';
import { Subscribers } from '../subscriptions/subscribers.js';
import { publicSessionId, type Session } from '../edge/session.js';
import { Sessions } from '../edge/sessions.service.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { BoundedSortedList } from '../lib/sorted/bounded-sorted-list.js';
import { notFound } from './admin-problem.js';
import type { SessionQuery } from './dto/list-query.dto.js';
import type { SessionDetailDto, SessionDto } from './dto/session.dto.js';
import type { AdminCaller } from './admin-caller.js';
import { AdminActions } from './admin-actions.js';
import { ListRequests } from './list-requests.js';
import { pageOf, type CountedPage } from './counted-page.js';

/** Lists and closes sessions for administrators. */
@Injectable()
export class SessionAdmin {
  constructor(
    private readonly sessions: Sessions,
    private readonly requests: ListRequests,
    private readonly actions: AdminActions,
    private readonly desired: DesiredServers,
    private readonly subscribers: Subscribers,
  ) {}

  /** Sorted by age, the oldest first. Collected in slices: there may be thousands of sessions. */
  async page(query: SessionQuery): Promise<CountedPage<SessionDto>> {
    const request = this.requests.parse('sessions', query);
    const { q, matches, after, limit } = request;
    const found = new BoundedSortedList<Session>(limit + 1, sortKey);
    const yieldIfDue = sliceScheduler.start();
    let total = 0;
    for (const session of this.sessions.all()) {
      const due = yieldIfDue();
      if (due) await due;
      if (query.project !== undefined && session.project !== query.project) continue;
      if (q !== '' && !matches(searchTextOf(session))) continue;
      total++;
      if (sortKey(session) > after) found.add(session);
    }
    return pageOf({ entries: found.items, total }, request, sortKey, sessionDto);
  }

  show(publicId: string): SessionDetailDto {
    const session = this.get(publicId);
    return Object.assign(sessionDto(session), {
      servers: [...this.desired.current.keys()].filter((id) => session.scope.allows(id)),
      lastSeen: new Date(Date.now() - session.idleMs).toISOString(),
      subscriptions: this.subscribers.table.countOfSubscriber(session.id),
    });
  }

  async close(caller: AdminCaller, publicId: string): Promise<void> {
    await this.actions.run(caller, { action: 'session.close', target: publicId }, () => {
      const session = this.get(publicId);
      return {
        apply: async () => {
          session.close();
          await this.sessions.waitUntilPersisted();
        },
      };
    });
  }

  /** Throws a problem when there is no such session. */
  private get(publicId: string): Session {
    for (const session of this.sessions.all()) if (publicSessionId(session) === publicId) return session;
    throw notFound('session', publicId);
  }
}

export function sessionDto(session: Session): SessionDto {
  const { clientInfo, project, principal, revision, openedAt, inFlight, streams, unfinishedLists } = session;
  return {
    id: publicSessionId(session),
    ...(clientInfo && { client: { name: clientInfo.name, version: clientInfo.version } }),
    principal: principal.id,
    ...(project === undefined ? {} : { project }),
    protocolVersion: revision.version,
    opened: new Date(openedAt).toISOString(),
    inFlight,
    streams: streams.connectedCount,
    hasStream: session.hasStream,
    unfinishedLists: [...unfinishedLists],
  };
}

/** The text that a search matches. */
const searchTextOf = (session: Session): string =>
  [publicSessionId(session), session.clientInfo?.name ?? '', session.principal.id].join('\n').toLowerCase();

/** Keys can be compared as text: milliseconds since 1970 have the same number of digits until the year 2286. */
const sortKey = (session: Session): string => `${session.openedAt} ${publicSessionId(session)}`;
