import type { ServerResponse } from 'node:http';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { AdminProblem } from './admin-problem.js';
import { SecretRedactor } from './secret-redactor.js';

const MOST_READERS = 64;
const HEARTBEAT_MS = 15_000;
/** A reader that is so far behind is let go: it reads everything anew when it is back. */
const MOST_WAITING_BYTES = 1_048_576;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

export type FeedEventKind =
  'snapshot' | 'server' | 'catalog' | 'session' | 'subscription' | 'project' | 'decisions' | 'config';

/** Tells everybody who reads along what changes. An event is written once, whoever reads it. */
@Injectable()
export class ChangeFeed implements OnModuleInit, BeforeApplicationShutdown {
  private readonly readers = new Set<ServerResponse>();
  private timer: NodeJS.Timeout | undefined;
  private lastId = 0;
  private ended = false;

  constructor(private readonly secrets: SecretRedactor) {}

  onModuleInit(): void {
    this.timer = setInterval(() => this.send(': still here\n\n'), HEARTBEAT_MS).unref();
  }

  /** Nobody who reads along keeps the gateway from ending. */
  beforeApplicationShutdown(): void {
    this.ended = true;
    clearInterval(this.timer);
    for (const reader of this.readers) reader.end();
  }

  get size(): number {
    return this.readers.size;
  }

  /** Nothing has to be put together for nobody. */
  get hasReaders(): boolean {
    return this.readers.size > 0;
  }

  requireCapacity(): void {
    if (this.ended || this.readers.size >= MOST_READERS)
      throw new AdminProblem('too-many-readers', `the feed serves at most ${MOST_READERS} readers`);
  }

  /** The first event says where things stand; whatever comes after it is newer. */
  open(response: ServerResponse, snapshot: object): void {
    response.writeHead(200, HEADERS);
    response.once('close', () => this.readers.delete(response));
    response.write(this.event('snapshot', snapshot));
    this.readers.add(response);
  }

  publish(kind: FeedEventKind, data: object): void {
    if (this.readers.size > 0) this.send(this.event(kind, data));
  }

  private event(kind: FeedEventKind, data: object): string {
    return `id: ${++this.lastId}\nevent: ${kind}\ndata: ${JSON.stringify(this.secrets.redact(data))}\n\n`;
  }

  private send(text: string): void {
    for (const reader of this.readers) {
      if (reader.writableLength > MOST_WAITING_BYTES) reader.destroy();
      else reader.write(text);
    }
  }
}
