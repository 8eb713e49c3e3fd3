import { GatewayError } from '../../core/errors.js';
import { runSliced } from '../../lib/slices/run-sliced.js';
import { sliceScheduler } from '../../lib/slices/slices.js';
import type { Params } from '../../mcp/json-rpc.js';
import type { ModernContext, SubscriberRequest } from '../../mcp/mcp-context.js';
import { McpController, McpRequest } from '../../mcp/mcp.decorators.js';
import { Metrics } from '../../metrics/metrics.js';
import { ListenSubscriptions } from '../../subscriptions/listen-subscriptions.js';
import { honouredFilter, readListenFilter, type ListenFilter } from './listen-filter.js';
import type { Listen } from './listen.js';
import { Listens } from './listens.service.js';

@McpController()
export class ListenController {
  constructor(
    private readonly listens: Listens,
    private readonly subscriptions: ListenSubscriptions,
    private readonly metrics: Metrics,
  ) {}

  /** Opens a listen stream. Resolves after the acknowledgement, and the stream stays open. Rejects if it is refused. */
  @McpRequest('subscriptions/listen')
  async listen(params: Params | undefined, context: ModernContext): Promise<void> {
    try {
      const filter = await runSliced(readListenFilter(params, context), sliceScheduler.start());
      await this.open(this.listens.create(context, filter.listChanges), filter, context);
      this.metrics.countListen('acknowledged');
    } catch (error) {
      this.metrics.countListen(outcomeOf(error));
      throw error;
    }
  }

  private async open(listen: Listen, filter: ListenFilter, context: ModernContext): Promise<void> {
    const { scope, signal } = context;
    const leave = (): void => listen.finish();
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    try {
      const request: SubscriberRequest = {
        subscriber: listen,
        scope,
        signal,
        // A getter, because reading `context.linkOwner` for the first time creates the owner.
        get linkOwner() {
          return context.linkOwner;
        },
      };
      const subscribed = await this.subscriptions.subscribe(request, filter.resources ?? []);
      if (listen.isClosed)
        throw new GatewayError('cancelled', 'The stream was closed before it was acknowledged');
      listen.open(context, honouredFilter(filter, subscribed.honoured));
      subscribed.acknowledged();
    } catch (error) {
      listen.finish();
      throw error;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }
}

function outcomeOf(error: unknown): 'cancelled' | 'refused' | 'failed' {
  if (!(error instanceof GatewayError)) return 'failed';
  if (error.kind === 'cancelled') return 'cancelled';
  return error.kind === 'limit-exceeded' ? 'refused' : 'failed';
}
