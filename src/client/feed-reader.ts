import { isJsonObject, tryParseJson } from '../lib/json-text/json-value.js';
import { SseParser } from '../lib/sse/sse-parser.js';
import { GatewayProblem } from './gateway-problem.js';

/** A connection without any byte for this time counts as lost: the gateway sends a heartbeat every 15 seconds. */
const MAX_SILENCE_MS = 40_000;
const MAX_EVENT_BYTES = 4_194_304;
const MIN_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 5_000;

interface FeedListener {
  /** Called when the stream is open. Its first event is a snapshot. */
  opened(): void;
  event(kind: string, data: Readonly<Record<string, unknown>>): void;
  /** Called when the stream has ended or could not be opened. The next attempt begins after `waitMs`. */
  lost(problem: string, waitMs: number): void;
}

interface FeedSource {
  events(signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
}

/** Reads the event feed of a gateway and reconnects with backoff until it is stopped. */
export class FeedReader {
  private isStopped = false;
  /** Aborted to end the current connection. */
  private connectionEnd = new AbortController();
  private endBackoff: () => void = () => {};
  /** Whether the current stream announced that the gateway stops. */
  private isDraining = false;

  constructor(
    private readonly source: FeedSource,
    private readonly listener: FeedListener,
  ) {}

  /** Resolves after `stop`. */
  async run(): Promise<void> {
    let failures = 0;
    while (!this.isStopped) {
      const { wasOpen, problem } = await this.readStream();
      if (this.isStopped) return;
      failures = wasOpen ? 0 : failures + 1;
      // Random between 75 % and 125 % of the backoff, so that readers do not reconnect at the same time.
      const jitter = 0.75 + Math.random() / 2;
      const waitMs = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** failures) * jitter;
      this.listener.lost(problem, waitMs);
      await this.backoff(waitMs);
    }
  }

  stop(): void {
    this.isStopped = true;
    this.connectionEnd.abort();
    this.endBackoff();
  }

  /** Reconnects at once if the reader waits before its next attempt. */
  retryNow(): void {
    this.endBackoff();
  }

  /** Opens the feed and reads it until it ends. */
  private async readStream(): Promise<{ wasOpen: boolean; problem: string }> {
    const connection = new AbortController();
    this.connectionEnd = connection;
    let wasOpen = false;
    let problem = 'the gateway ended the connection';
    try {
      const reader = (await this.source.events(connection.signal)).getReader();
      connection.signal.addEventListener('abort', () => void reader.cancel().catch(() => {}));
      wasOpen = true;
      this.isDraining = false;
      this.listener.opened();
      await this.emitEvents(reader, connection);
      if (this.isDraining) problem = 'the gateway is draining';
    } catch (error) {
      problem = problemOf(error);
    }
    if (connection.signal.aborted) problem = 'the gateway sent no heartbeat';
    // Closes the connection if it is still open.
    connection.abort();
    return { wasOpen, problem };
  }

  /** Reads the stream to its end and emits its events. Aborts the connection if the gateway sends nothing for too long. */
  private async emitEvents(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    connection: AbortController,
  ): Promise<void> {
    const parser = new SseParser(MAX_EVENT_BYTES, (data, kind) => this.emit(kind, data));
    const timer = setTimeout(() => connection.abort(), MAX_SILENCE_MS);
    try {
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
        timer.refresh();
        if (!parser.push(Buffer.from(chunk.value)))
          throw new GatewayProblem('refused', 'the gateway sent an event of more than 4 MB');
      }
    } finally {
      clearTimeout(timer);
    }
  }

  private emit(kind: string, data: string): void {
    if (this.isStopped) return;
    if (kind === 'draining') this.isDraining = true;
    const value = tryParseJson(data);
    // An event that is not an object, perhaps of a newer gateway, is ignored.
    if (isJsonObject(value)) this.listener.event(kind, value);
  }

  private backoff(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.endBackoff = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.isStopped) this.endBackoff();
    });
  }
}

const problemOf = (error: unknown): string =>
  error instanceof GatewayProblem ? error.message : 'the connection was lost';
