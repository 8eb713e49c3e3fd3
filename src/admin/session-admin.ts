import { Injectable } from '@nestjs/common';
import { SessionListings } from '../backends/session-listings.js';
import type { Scope } from '../core/scope.js';
import { publicSessionId } from '../edge/session.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { BoundedSortedList } from '../lib/sorted/bounded-sorted-list.js';
import { CatalogLists } from './catalog-lists.js';
import { ConnectedClients, type ConnectedClient } from './connected-clients.js';
import type { ResourceDto } from './dto/catalog.dto.js';
import type { SessionCatalogQuery, SessionQuery } from './dto/list-query.dto.js';
import type { SessionDetailDto, SessionDto } from './dto/session.dto.js';
import type { AdminCaller } from './admin-caller.js';
import { AdminActions } from './admin-actions.js';
import { ListRequests } from './list-requests.js';
import { ResourceLists } from './resource-lists.js';
import { SessionViews } from './session-views.js';
import { pageOf, type CountedPage } from './counted-page.js';

/** Lists and closes sessions and listen streams for administrators, and shows what their clients see. */
@Injectable()
export class SessionAdmin {
  constructor(
    private readonly clients: ConnectedClients,
    private readonly requests: ListRequests,
    private readonly actions: AdminActions,
    private readonly views: SessionViews,
    private readonly listings: SessionListings,
    private readonly catalogLists: CatalogLists,
    private readonly resourceLists: ResourceLists,
  ) {}

  /** The oldest clients come first. The page is collected in slices, because there may be thousands of clients. */
  async page(query: SessionQuery): Promise<CountedPage<SessionDto>> {
    const request = this.requests.parse('sessions', query);
    const { q, matches, after, limit } = request;
    const found = new BoundedSortedList<ConnectedClient>(limit + 1, sortKey);
    const yieldIfDue = sliceScheduler.start();
    let total = 0;
    for (const client of this.clients.all()) {
      const pause = yieldIfDue();
      if (pause) await pause;
      if (query.project !== undefined && client.project !== query.project) continue;
      if (q !== '' && !matches(searchTextOf(client))) continue;
      total++;
      if (sortKey(client) > after) found.add(client);
    }
    return pageOf({ entries: found.items, total }, request, sortKey, (client) => this.views.summary(client));
  }

  show(publicId: string): SessionDetailDto {
    return this.views.detail(this.clients.get(publicId));
  }

  /** The tools in the client's `tools/list`. */
  async tools(publicId: string, query: SessionCatalogQuery): ReturnType<CatalogLists['toolsOfSession']> {
    const client = this.clients.get(publicId);
    return this.catalogLists.toolsOfSession(publicId, await this.requestScopeOf(client), query);
  }

  /** The resources in the client's `resources/list`. */
  async resources(publicId: string, query: SessionCatalogQuery): Promise<CountedPage<ResourceDto>> {
    const client = this.clients.get(publicId);
    return this.resourceLists.resourcesOfSession(publicId, await this.requestScopeOf(client), query);
  }

  async close(caller: AdminCaller, publicId: string): Promise<void> {
    await this.actions.run(caller, { action: 'session.close', target: publicId }, () => {
      const client = this.clients.get(publicId);
      return { apply: () => this.clients.close(client) };
    });
  }

  /**
   * The scope that a list request of the client has. As a list request does, this method waits up to a few seconds for
   * servers with `isolation: session` that have not listed for the session yet. A listen stream gets the scope with
   * the lists of the shared links.
   */
  private async requestScopeOf(client: ConnectedClient): Promise<Scope> {
    const { scope } = client;
    const request = { linkOwner: client.kind === 'session' ? client.linkOwner : undefined, scope };
    await this.listings.updateScopeWhenListed(request, []);
    return this.listings.scopeOf(scope, request);
  }
}

/** The text in which the words of a query are searched. */
const searchTextOf = (client: ConnectedClient): string =>
  [publicSessionId(client), client.clientInfo?.name ?? '', client.principal.id].join('\n').toLowerCase();

/** As text, these keys sort by age: milliseconds since 1970 have the same number of digits until the year 2286. */
const sortKey = (client: ConnectedClient): string => `${client.openedAt} ${publicSessionId(client)}`;
