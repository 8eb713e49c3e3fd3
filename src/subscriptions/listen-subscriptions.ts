import { Injectable } from '@nestjs/common';
import { GatewayError, RemoteError } from '../core/errors.js';
import type { SubscribableAddress } from '../core/resources/resource-pattern.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import { completesWithin } from '../lib/deadlines/timeout.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import type { Subscriber, SubscriberRequest } from '../mcp/mcp-context.js';
import { ResourceUpdates } from './resource-updates.js';
import { Subscribers } from './subscribers.js';
import { SubscriptionAddresses } from './subscription-addresses.js';
import { SubscriptionLog } from './subscription-log.js';
import { UpstreamSubscriptions } from './upstream-subscriptions.js';

/**
 * Maximum time that the acknowledgement waits for servers. Clients of SDK 2.x wait a minute for the acknowledgement.
 */
export const CONFIRMATION_WAIT_MS = 10_000;

/** The subscriptions of one listen stream. */
export interface ListenedResources {
  /** The requested URIs whose updates the stream receives, as the client wrote them. */
  readonly honoured: readonly string[];
  /** Call this when the acknowledgement has been written. Sends the updates that were held until then. */
  acknowledged(): void;
}

/** The rows of one listen stream, by the URI that the client wrote. Several URIs may lead to the same row. */
type RowsByUri = ReadonlyMap<string, Subscription>;

/** Subscribes a listen stream to all resources that its request names. */
@Injectable()
export class ListenSubscriptions {
  constructor(
    private readonly subscribers: Subscribers,
    private readonly addresses: SubscriptionAddresses,
    private readonly upstreams: UpstreamSubscriptions,
    private readonly updates: ResourceUpdates,
    private readonly log: SubscriptionLog,
  ) {}

  /**
   * Resolves when the servers have answered, when the request is cancelled, or after `CONFIRMATION_WAIT_MS`. A URI is
   * left out if it is unknown or out of scope, if its server refuses it, or if the links of its server are not shared and
   * the client cannot own a link. Resources of a server that is not available are subscribed in the background. If a limit
   * is reached, rejects and removes all subscriptions of the request.
   */
  async subscribe(request: SubscriberRequest, uris: readonly string[]): Promise<ListenedResources> {
    this.log.countLimitError(() => this.subscribers.requireFewUris(uris.length));
    const rows = await this.addAll(request.subscriber, await this.resolveAll(request, new Set(uris)));
    const unique = [...new Set(rows.values())];
    const wait = { isOver: false };
    const confirmed = Promise.all(unique.map((row) => this.confirm(row, wait)));
    try {
      await waitUnlessAborted(confirmed, request);
    } catch (error) {
      for (const { id } of unique) this.subscribers.remove(id);
      throw error;
    }
    wait.isOver = true;
    return {
      honoured: this.urisOfExisting(rows),
      acknowledged: () => unique.forEach((row) => this.updates.acknowledged(row)),
    };
  }

  /**
   * Returns the address of each URI that leads to one. If some URIs do not, waits for servers that are starting and
   * resolves these URIs again.
   */
  private async resolveAll(
    request: SubscriberRequest,
    uris: Iterable<string>,
  ): Promise<Map<string, SubscribableAddress>> {
    const found = new Map<string, SubscribableAddress>();
    let unknown = await this.resolve(request, uris, found);
    const listed = unknown.length > 0 ? this.addresses.whenServersListed(request) : undefined;
    if (listed) {
      await listed;
      unknown = await this.resolve(request, unknown, found);
    }
    const yieldIfDue = sliceScheduler.start();
    for (const uri of unknown) {
      const yielding = yieldIfDue();
      if (yielding) await yielding;
      const address = this.addresses.ofUnlistedServer(request, uri);
      if (address) found.set(uri, address);
      else this.log.notFound(uri);
    }
    return found;
  }

  /**
   * Adds the address of each URI to `found`. Returns the URIs that lead to no address. Works in slices, because a
   * request may have many URIs.
   */
  private async resolve(
    request: SubscriberRequest,
    uris: Iterable<string>,
    found: Map<string, SubscribableAddress>,
  ): Promise<string[]> {
    const unknown: string[] = [];
    const yieldIfDue = sliceScheduler.start();
    for (const uri of uris) {
      const yielding = yieldIfDue();
      if (yielding) await yielding;
      const resolved = this.addresses.resolveForSession(request, uri);
      const address = resolved instanceof Promise ? await resolved : resolved;
      if (address && this.addresses.hasLinkFor(request, address)) found.set(uri, address);
      else unknown.push(uri);
    }
    return unknown;
  }

  /** Adds a row for each address. If a limit is reached, removes the rows again and rejects. */
  private async addAll(
    subscriber: Subscriber,
    addresses: ReadonlyMap<string, SubscribableAddress>,
  ): Promise<RowsByUri> {
    const rows = new Map<string, Subscription>();
    const yieldIfDue = sliceScheduler.start();
    try {
      for (const [uri, address] of addresses) {
        const yielding = yieldIfDue();
        if (yielding) await yielding;
        const { subscription, isNew } = this.log.countLimitError(() =>
          this.subscribers.add(subscriber, address),
        );
        if (isNew) this.updates.expectAcknowledgement(subscription);
        rows.set(uri, subscription);
      }
    } catch (error) {
      for (const { id } of rows.values()) this.subscribers.remove(id);
      throw error;
    }
    return rows;
  }

  /**
   * Waits for the confirmation of the server. While `subscribe` still waits: removes the row if the server refuses, and
   * rejects if a limit allows the client no further link of its own. Retries other failures in the background. After that
   * wait, retries every failure in the background, because the client has been told that the URI is honoured.
   */
  private async confirm(row: Subscription, wait: { readonly isOver: boolean }): Promise<void> {
    try {
      await this.upstreams.confirm(row);
      if (this.exists(row)) this.log.established(row);
    } catch (error) {
      if (!this.exists(row)) return;
      if (isLimit(error) && !wait.isOver) throw error;
      if (error instanceof RemoteError && !wait.isOver) {
        this.log.failed(row, error);
        this.subscribers.remove(row.id);
      } else {
        this.log.deferred(row, error);
        this.upstreams.subscribeInBackground(row);
      }
    }
  }

  private urisOfExisting(rows: RowsByUri): string[] {
    const uris: string[] = [];
    for (const [uri, row] of rows) if (this.exists(row)) uris.push(uri);
    return uris;
  }

  private exists({ id }: Subscription): boolean {
    return this.subscribers.table.get(id) !== undefined;
  }
}

const isLimit = (error: unknown): boolean => error instanceof GatewayError && error.kind === 'limit-exceeded';

async function waitUnlessAborted(
  confirmed: Promise<unknown>,
  { signal }: Pick<SubscriberRequest, 'signal'>,
): Promise<void> {
  let stop!: () => void;
  const aborted = new Promise<void>((resolve) => (stop = resolve));
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    await completesWithin(Promise.race([confirmed, aborted]), CONFIRMATION_WAIT_MS);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
