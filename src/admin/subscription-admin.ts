import { Injectable } from '@nestjs/common';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import { Subscribers } from '../subscriptions/subscribers.js';
import { SubscriptionAddresses } from '../subscriptions/subscription-addresses.js';
import { Subscriptions } from '../subscriptions/subscriptions.service.js';
import { notFound } from './admin-problem.js';
import type { AdminCaller } from './admin-caller.js';
import { ListRequests } from './list-requests.js';
import { AdminActions } from './admin-actions.js';
import { BoundedSortedList } from '../lib/sorted/bounded-sorted-list.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { pageOf, type CountedPage } from './counted-page.js';
import { publicSessionId } from '../edge/session.js';
import type { SubscriptionQuery } from './dto/list-query.dto.js';
import type { SubscriptionDto } from './dto/subscription.dto.js';

/** Lists and ends subscriptions for administrators. */
@Injectable()
export class SubscriptionAdmin {
  constructor(
    private readonly subscribers: Subscribers,
    private readonly addresses: SubscriptionAddresses,
    private readonly subscriptions: Subscriptions,
    private readonly requests: ListRequests,
    private readonly actions: AdminActions,
  ) {}

  /**
   * The oldest subscriptions come first. The page is collected in slices, because there may be hundreds of thousands of
   * subscriptions.
   */
  async page(query: SubscriptionQuery): Promise<CountedPage<SubscriptionDto>> {
    const { client, uri } = query;
    const request = this.requests.parse(JSON.stringify(['subscriptions', client, uri]), query);
    const { scope, server, q, matches, after, limit } = request;
    const matchesUri = uri === undefined ? undefined : this.addresses.rowTestFor(uri);
    const found = new BoundedSortedList<Subscription>(limit + 1, sortKey);
    const yieldIfDue = sliceScheduler.start();
    let total = 0;
    const rows = server === undefined ? this.subscribers.table : this.rowsOf(server);
    for (const row of rows) {
      const pause = yieldIfDue();
      if (pause) await pause;
      if (!scope.allows(row.server)) continue;
      if (client !== undefined && clientOf(row) !== client) continue;
      if (matchesUri && !matchesUri(row)) continue;
      if (q !== '' && !matches(this.searchTextOf(row))) continue;
      total++;
      if (sortKey(row) > after) found.add(row);
    }
    return pageOf({ entries: found.items, total }, request, sortKey, (row) => this.dtoOf(row));
  }

  async end(caller: AdminCaller, id: string): Promise<void> {
    await this.actions.run(caller, { action: 'subscription.end', target: id }, () => {
      if (!this.subscribers.table.get(id)) throw notFound('subscription', id);
      return { apply: () => this.subscriptions.end(id, 'ended by an administrator') };
    });
  }

  dtoOf(row: Subscription): SubscriptionDto {
    const { id, server, uri, since } = row;
    const subscriber = this.subscribers.subscriberOf(row);
    const name = subscriber?.clientInfo?.name;
    return {
      id,
      client: clientOf(row),
      ...(name !== undefined && { clientName: name }),
      server,
      uri: this.addresses.publicUri(row),
      ownUri: uri,
      original: uri,
      since: new Date(since).toISOString(),
      hasStream: subscriber?.hasStream ?? false,
    };
  }

  private searchTextOf(row: Subscription): string {
    const name = this.subscribers.subscriberOf(row)?.clientInfo?.name ?? '';
    return [this.addresses.publicUri(row), row.uri, row.server, clientOf(row), name].join('\n').toLowerCase();
  }

  private *rowsOf(server: string): Iterable<Subscription> {
    for (const target of this.subscribers.table.targetsOf(server)) {
      const rows: Subscription[] = [];
      target.forEach((row) => rows.push(row));
      yield* rows;
    }
  }
}

const clientOf = ({ subscriber }: Subscription): string => publicSessionId({ id: subscriber });

/** As text, these keys sort by age: milliseconds since 1970 have the same number of digits until the year 2286. */
const sortKey = ({ since, id }: Subscription): string => `${since} ${id}`;
