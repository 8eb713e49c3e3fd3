import type { OpenExchange, ResponseBody } from './response-body.js';

const MOST_BYTES = 64 * 1024;

/** A body of no interest: a little of it is read, so that its connection can be used again. */
export class DrainedBody implements ResponseBody {
  readonly mustFlow = true;
  private seen = 0;

  constructor(private readonly exchange: OpenExchange) {}

  push(chunk: Buffer): void {
    this.seen += chunk.length;
    if (this.seen > MOST_BYTES) this.exchange.succeed();
  }

  end(): void {
    this.exchange.succeed();
  }

  cut(): void {
    this.exchange.succeed();
  }
}
