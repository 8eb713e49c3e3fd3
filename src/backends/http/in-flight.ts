import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { Slots } from '../../lib/queues/slots.js';
import { Deadlines } from '../../lib/deadlines/deadlines.js';
import type { Exchange } from './exchange.js';
import { closed } from './faults.js';

/** The exchanges under way. */
export class InFlight {
  private readonly exchanges = new Slots<Exchange>();
  private readonly deadlines = new Deadlines<Exchange>(
    () => this.exchanges,
    (exchange) => exchange.expire(),
  );

  nextId(): number {
    return this.exchanges.nextId();
  }

  add(exchange: Exchange): void {
    this.exchanges.add(exchange);
  }

  delete(exchange: Exchange): void {
    this.exchanges.delete(exchange.id);
  }

  watch(deadline: number): void {
    this.deadlines.watch(deadline);
  }

  abandon(requestId: RequestId): void {
    for (const exchange of this.exchanges) {
      if (exchange.requestId === requestId) exchange.succeed();
    }
  }

  close(): void {
    this.deadlines.stop();
    for (const exchange of this.exchanges) exchange.fail(closed());
  }
}
