import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { ReadJson } from '../../lib/json-text/json-reader.js';
import { EventStreamParser, type EventData } from '../../lib/sse/sse-parser.js';
import { EventMessage } from '../http/event-message.js';
import { GetStream } from '../http/get-stream.js';
import { HttpTransport, type HttpServer, type HttpTransportOptions } from '../http/http-transport.js';
import { RequestHeaders } from '../http/request-headers.js';
import { messageIgnored } from '../http/transport-errors.js';
import { brokenError } from '../link/link-errors.js';
import { TransportError } from '../link/transport.js';

export interface SseOptions extends HttpTransportOptions {
  /** How long the server may take to open the stream and to send the `endpoint` event. */
  readonly endpointTimeoutMs?: number | undefined;
}

/** Maximum length of the `endpoint` event. Limited, because its path is sent with every message. */
const MAX_ENDPOINT_LENGTH = 8192;

/**
 * The client side of the HTTP+SSE transport of revision 2024-11-05. All messages of the server come on one event stream. Its
 * first event (`endpoint`) names the path to which the gateway posts its messages. The session ends with the stream, so the
 * transport closes when the stream ends, and the link is replaced.
 */
export class SseTransport extends HttpTransport {
  readonly respondsOnStream = true;
  private readonly endpointTimeoutMs: number;
  private endpoint: string | undefined;
  private stream: GetStream | undefined;
  private endpointTimer: NodeJS.Timeout | undefined;
  /** The functions that settle the promise of `start`. */
  private resolveStart: (() => void) | undefined;
  private rejectStart: ((why: TransportError) => void) | undefined;

  constructor(
    private readonly server: HttpServer,
    options: SseOptions = {},
  ) {
    super(server, options);
    this.endpointTimeoutMs = options.endpointTimeoutMs ?? 10_000;
  }

  /** The server identifies the session by the path that it names. */
  get sessionId(): string | undefined {
    return this.endpoint;
  }

  /** Resolves when the server has named its endpoint. Messages of the server that come before are ignored. */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.resolveStart = resolve;
      this.rejectStart = reject;
      const parser = new EventStreamParser(this.maxMessageBytes, this.eventData(), (data, type) =>
        this.readEvent(data, type),
      );
      const stream = new GetStream(parser, { onEnd: (why) => this.streamEnded(why) }, this);
      this.stream = stream;
      this.endpointTimer = setTimeout(() => {
        stream.fail(brokenError(`the server sent no endpoint event within ${this.endpointTimeoutMs} ms`));
      }, this.endpointTimeoutMs).unref();
      stream.open('');
    });
  }

  sendText(text: string, requestId?: RequestId): Promise<void> {
    return this.post(text, requestId);
  }

  saveSessionId(): void {
    // The server names its session in the endpoint event.
  }

  markSessionExpired(): void {
    // The end of the stream ends the session. No further request is needed.
  }

  protected endStreams(): Promise<void> {
    clearTimeout(this.endpointTimer);
    this.stream?.stop();
    this.rejectStart?.(brokenError('the transport was closed'));
    return Promise.resolve();
  }

  /** Reads the data of an event: as a message or, before the server has named its endpoint, as text. */
  private eventData(): EventData<ReadJson | string | undefined> {
    const message = new EventMessage(this);
    return {
      get length() {
        return message.length;
      },
      append: (bytes) => message.append(bytes),
      take: () => (this.endpoint === undefined ? message.takeText() : message.take()),
    };
  }

  private readEvent(data: ReadJson | string | undefined, type: string): void {
    if (typeof data === 'string') {
      if (type === 'endpoint') this.readEndpoint(data);
    } else if (data && type === 'message') {
      try {
        this.deliver(data);
      } catch (error) {
        this.report(messageIgnored(error));
      }
    }
  }

  private readEndpoint(data: string): void {
    const url = data.length <= MAX_ENDPOINT_LENGTH ? parseUrl(data, this.url) : undefined;
    // Credentials and messages must reach only the configured server.
    if (url?.origin !== this.url.origin) {
      this.stream?.fail(new TransportError('refused', 'the server named an endpoint of another origin'));
      return;
    }
    clearTimeout(this.endpointTimer);
    this.endpoint = url.pathname + url.search;
    this.headers = new RequestHeaders(this.server.headers ?? {}, url, this.forwardProxy);
    this.resolveStart?.();
  }

  private streamEnded(why: TransportError): void {
    if (this.endpoint === undefined) this.rejectStart?.(why);
    else this.report(why);
    void this.close();
  }
}

function parseUrl(text: string, base: URL): URL | undefined {
  return URL.canParse(text, base.href) ? new URL(text, base) : undefined;
}
