import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { IdTable } from '../../lib/id-table/id-table.js';
import { Deadlines } from '../../lib/deadlines/deadlines.js';
import type { PendingPost } from './pending-post.js';
import { closed } from './faults.js';

/** The exchanges under way. */
export class InFlight {
  private readonly exchanges = new IdTable<PendingPost>();
  private readonly deadlines = new Deadlines<PendingPost>(
    () => this.exchanges,
    (exchange) => exchange.expire(),
  );

  nextId(): number {
    return this.exchanges.nextId();
  }

  add(exchange: PendingPost): void {
    this.exchanges.add(exchange);
  }

  delete(exchange: PendingPost): void {
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
