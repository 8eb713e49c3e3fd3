import { SseParser } from '../lib/sse/sse-parser.js';
import { GatewayProblem } from './gateway-problem.js';

/** The gateway sends a heartbeat every 15 seconds, so a connection that is silent for longer than this is dead. */
const MAX_SILENCE_MS = 40_000;
const MAX_EVENT_BYTES = 4_194_304;
const MIN_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 5_000;

interface FeedListener {
  /** The stream is open; its first event is a snapshot. */
  opened(): void;
  event(kind: string, data: Readonly<Record<string, unknown>>): void;
  /** The stream ended or could not be opened; the next attempt is after `waitMs`. */
  lost(problem: string, waitMs: number): void;
}

interface FeedSource {
  events(signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
}

/** Reads the event feed of a gateway and reconnects with backoff until it is stopped. */
export class FeedReader {
  private readonly stopped = new AbortController();
  private endBackoff: () => void = () => {};
  /** Whether the current stream announced that the gateway stops. */
  private isDraining = false;

  constructor(
    private readonly source: FeedSource,
    private readonly listener: FeedListener,
  ) {}

  /** Resolves after `stop`. */
  async run(): Promise<void> {
    for (let failures = 0; !this.isStopped;) {
      const { wasOpen, problem } = await this.readStream();
      if (this.isStopped) return;
      failures = wasOpen ? 0 : failures + 1;
      const waitMs = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** failures) * (0.75 + Math.random() / 2);
      this.listener.lost(problem, waitMs);
      await this.backoff(waitMs);
    }
  }

  stop(): void {
    this.stopped.abort();
    this.endBackoff();
  }

  /** Ends a backoff at once. */
  retryNow(): void {
    this.endBackoff();
  }

  private get isStopped(): boolean {
    return this.stopped.signal.aborted;
  }

  /** Opens the feed and reads it until it ends. */
  private async readStream(): Promise<{ wasOpen: boolean; problem: string }> {
    const silence = new AbortController();
    const signal = AbortSignal.any([this.stopped.signal, silence.signal]);
    let wasOpen = false;
    try {
      const stream = await this.source.events(signal);
      wasOpen = true;
      this.isDraining = false;
      this.listener.opened();
      await this.emitEvents(stream, silence);
      return {
        wasOpen,
        problem: this.isDraining ? 'the gateway is draining' : 'the gateway ended the connection',
      };
    } catch (error) {
      const isSilent = silence.signal.aborted;
      return { wasOpen, problem: isSilent ? 'the gateway sent no heartbeat' : problemOf(error) };
    } finally {
      silence.abort();
    }
  }

  /** Aborts `silence` if the gateway sends nothing for too long. */
  private async emitEvents(stream: ReadableStream<Uint8Array>, silence: AbortController): Promise<void> {
    const parser = new SseParser(MAX_EVENT_BYTES, (data, kind) => this.emit(kind, data));
    const timer = setTimeout(() => silence.abort(), MAX_SILENCE_MS);
    try {
      for await (const chunk of stream) {
        timer.refresh();
        if (!parser.push(Buffer.from(chunk))) throw new GatewayProblem('refused', 'an event is too large');
      }
    } finally {
      clearTimeout(timer);
    }
  }

  private emit(kind: string, data: string): void {
    if (this.isStopped) return;
    if (kind === 'draining') this.isDraining = true;
    try {
      this.listener.event(kind, JSON.parse(data) as Record<string, unknown>);
    } catch (error) {
      // Ignores events that are not JSON, perhaps of a newer gateway. Errors of the listener are thrown.
      if (!(error instanceof SyntaxError)) throw error;
    }
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
