import { Injectable, Logger } from '@nestjs/common';
import { GatewayError, nothingToSubscribe, RemoteError } from '../core/errors.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import { clientLabel } from '../mcp/client-profile.js';
import { Metrics } from '../metrics/metrics.js';
import { Subscribers } from './subscribers.js';

/** Logs the start and the end of subscriptions. Counts those that are refused. */
@Injectable()
export class SubscriptionLog {
  private readonly logger = new Logger('Subscriptions');

  constructor(
    private readonly subscribers: Subscribers,
    private readonly metrics: Metrics,
  ) {}

  established(subscription: Subscription): void {
    const { id, server, uri } = subscription;
    const client = clientLabel(this.subscribers.subscriberOf(subscription)?.clientInfo);
    this.logger.debug({ message: 'subscribed', subscription: id, server, uri, client });
  }

  /** The server has not confirmed the subscription. The reconciler subscribes it in the background. */
  deferred({ id, server, uri }: Subscription, error: unknown): void {
    this.logger.debug({
      message: 'subscription deferred',
      subscription: id,
      server,
      uri,
      cause: String(error),
    });
  }

  ended({ id, server, uri }: Subscription, reason: string): void {
    this.logger.debug({ message: 'subscription ended', subscription: id, server, uri, reason });
  }

  /** The subscription failed. Returns the error for the client. */
  failed({ server, uri }: Subscription, error: unknown): unknown {
    const isRefused = error instanceof RemoteError;
    // In the metric, `failed` means that the server refused the subscription.
    this.metrics.countSubscriptionRejection(isRefused ? 'failed' : 'unavailable');
    this.logger.warn({ message: 'subscription failed', server, uri, cause: String(error) });
    if (!isRefused) return error;
    return new GatewayError(
      'subscription-failed',
      `SUBSCRIPTION_FAILED: server ${server} refused the subscription: ${error.message}`,
      { code: 'SUBSCRIPTION_FAILED', server },
      { cause: error },
    );
  }

  /** There is nothing to subscribe to under this URI. Returns the error for the client. */
  notFound(uri: string): GatewayError {
    this.metrics.countSubscriptionRejection('unknown');
    return nothingToSubscribe(uri);
  }

  /** Calls `addOrCheck`, which throws only if a limit is reached. Counts the error and throws it again. */
  countLimitError<T>(addOrCheck: () => T): T {
    try {
      return addOrCheck();
    } catch (error) {
      this.metrics.countSubscriptionRejection('limit');
      throw error;
    }
  }
}
