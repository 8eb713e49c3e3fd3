import type { TransportError } from '../link/transport.js';
import { brokenError } from '../link/link-faults.js';
import { tooLarge } from './faults.js';
import { BoundedBuffer } from '../../lib/bounded-buffer/bounded-buffer.js';
import type { OpenExchange, ResponseBody } from './response-body.js';

/** The answer as one JSON document. */
export class JsonAnswer implements ResponseBody {
  readonly mustFlow = true;
  private readonly bytes: BoundedBuffer;

  constructor(
    private readonly exchange: OpenExchange,
    private readonly maxMessageBytes: number,
  ) {
    this.bytes = new BoundedBuffer(maxMessageBytes);
  }

  push(chunk: Buffer): void {
    if (!this.bytes.append(chunk)) this.exchange.fail(tooLarge(this.maxMessageBytes));
  }

  end(): void {
    if (this.exchange.deliver(this.bytes.take().toString())) this.exchange.succeed();
    else this.exchange.fail(brokenError('the response does not hold the answer'));
  }

  cut(fault: TransportError): void {
    this.exchange.fail(fault);
  }
}
