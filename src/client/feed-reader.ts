import { SseParser } from '../lib/sse/sse-parser.js';
import { GatewayProblem } from './gateway-problem.js';

/** The gateway says something at least every 15 seconds. */
const LONGEST_SILENCE_MS = 40_000;
const LARGEST_EVENT = 4_194_304;
const SHORTEST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;

export interface FeedListener {
  /** The stream is open; the first event that follows says where things stand. */
  opened(): void;
  event(kind: string, data: Readonly<Record<string, unknown>>): void;
  /** It broke, or could not be opened; it is tried again after so long. */
  lost(problem: string, waitMs: number): void;
}

export interface FeedSource {
  events(signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
}

/** Follows what changes at a gateway, for as long as it takes: a connection that breaks is opened again. */
export class FeedReader {
  private readonly ending = new AbortController();
  private impatient: () => void = () => {};

  constructor(
    private readonly source: FeedSource,
    private readonly listener: FeedListener,
  ) {}

  /** Resolves when it was stopped. */
  async run(): Promise<void> {
    for (let failures = 0; !this.isOver;) {
      const opened = await this.follow();
      if (this.isOver) return;
      failures = opened.atAll ? 0 : failures + 1;
      const waitMs = Math.min(LONGEST_WAIT_MS, SHORTEST_WAIT_MS * 2 ** failures) * (0.75 + Math.random() / 2);
      this.listener.lost(opened.problem, waitMs);
      await this.pause(waitMs);
    }
  }

  stop(): void {
    this.ending.abort();
    this.impatient();
  }

  /** Tries again now. */
  retryNow(): void {
    this.impatient();
  }

  private get isOver(): boolean {
    return this.ending.signal.aborted;
  }

  private async follow(): Promise<{ atAll: boolean; problem: string }> {
    const broken = new AbortController();
    const signal = AbortSignal.any([this.ending.signal, broken.signal]);
    let atAll = false;
    try {
      const stream = await this.source.events(signal);
      atAll = true;
      this.listener.opened();
      await this.read(stream, broken);
      return { atAll, problem: 'the gateway ended the connection' };
    } catch (error) {
      const silent = broken.signal.aborted;
      return { atAll, problem: silent ? 'nothing was heard for a while' : problemIn(error) };
    } finally {
      broken.abort();
    }
  }

  private async read(stream: ReadableStream<Uint8Array>, broken: AbortController): Promise<void> {
    const parser = new SseParser(LARGEST_EVENT, (data, kind) => this.tell(kind, data));
    const silence = setTimeout(() => broken.abort(), LONGEST_SILENCE_MS);
    try {
      for await (const chunk of stream) {
        silence.refresh();
        if (!parser.push(Buffer.from(chunk))) throw new GatewayProblem('refused', 'an event is too large');
      }
    } finally {
      clearTimeout(silence);
    }
  }

  private tell(kind: string, data: string): void {
    if (this.isOver) return;
    try {
      this.listener.event(kind, JSON.parse(data) as Record<string, unknown>);
    } catch (error) {
      // Of a newer gateway, perhaps. Whoever listens is not at fault for it.
      if (!(error instanceof SyntaxError)) throw error;
    }
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.impatient = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.isOver) this.impatient();
    });
  }
}

const problemIn = (error: unknown): string =>
  error instanceof GatewayProblem ? error.message : 'the connection broke';
