import type { TransportError } from '../link/transport.js';
import type { Endpoint } from './endpoint.js';
import { brokenError } from '../link/link-faults.js';
import { tooLarge } from './faults.js';
import type { OpenExchange, ResponseBody } from './response-body.js';
import { ResponseResumption } from './resumption.js';
import { SseParser } from '../../lib/sse/sse-parser.js';

/** The answer on a stream of events, after whatever else the server has to say about the request. */
export class SseResponse implements ResponseBody {
  readonly mustFlow = false;
  private readonly parser: SseParser;
  private resumption: ResponseResumption | undefined;
  private isAnswered = false;

  constructor(
    private readonly exchange: OpenExchange,
    private readonly endpoint: Endpoint,
    private readonly maxMessageBytes: number,
  ) {
    this.parser = new SseParser(maxMessageBytes, (data, type) => this.read(data, type));
  }

  push(chunk: Buffer): void {
    if (!this.parser.push(chunk)) this.exchange.fail(tooLarge(this.maxMessageBytes));
  }

  end(): void {
    this.cut(brokenError('the event stream ended before the answer'));
  }

  cut(fault: TransportError): void {
    if (this.isAnswered) this.exchange.succeed();
    else if (this.parser.lastEventId === '') this.exchange.fail(fault);
    else this.resume();
  }

  stop(): void {
    this.resumption?.stop();
  }

  private read(data: string, type: string): void {
    if (type !== 'message' || !this.exchange.deliver(data)) return;
    this.isAnswered = true;
    if (this.resumption) this.exchange.succeed();
    else this.exchange.linger();
  }

  private resume(): void {
    this.resumption = new ResponseResumption(
      {
        endpoint: this.endpoint,
        maxMessageBytes: this.maxMessageBytes,
        onEvent: (data, type) => this.read(data, type),
        giveUp: (why) => this.exchange.fail(why),
      },
      this.parser,
    );
  }
}
