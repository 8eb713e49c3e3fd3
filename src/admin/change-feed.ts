import type { ServerResponse } from 'node:http';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { AdminProblem } from './admin-problem.js';
import { SecretRedactor } from './secret-redactor.js';

const MAX_READERS = 64;
const HEARTBEAT_INTERVAL_MS = 15_000;
/** A comment in the event stream. It keeps the connection open; readers ignore it. */
const HEARTBEAT = ': still here\n\n';
/** A reader with more unsent bytes is disconnected. After it has reconnected, it receives a new snapshot. */
const MAX_BUFFERED_BYTES = 1_048_576;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

type FeedEventKind =
  | 'snapshot'
  | 'server'
  | 'catalog'
  | 'session'
  | 'subscription'
  | 'project'
  | 'decisions'
  | 'config'
  | 'draining';

/** Streams events to the readers of `/admin/v1/events`. An event is serialized once for all readers. */
@Injectable()
export class ChangeFeed implements OnModuleInit, BeforeApplicationShutdown {
  private readonly readers = new Set<ServerResponse>();
  private timer: NodeJS.Timeout | undefined;
  private lastId = 0;
  private isClosed = false;

  constructor(private readonly secrets: SecretRedactor) {}

  onModuleInit(): void {
    this.timer = setInterval(() => this.send(HEARTBEAT), HEARTBEAT_INTERVAL_MS).unref();
  }

  /** Ends the streams with an event that says why, so that they do not delay the shutdown. */
  beforeApplicationShutdown(): void {
    this.isClosed = true;
    clearInterval(this.timer);
    this.publish('draining', { at: new Date().toISOString() });
    for (const reader of this.readers) reader.end();
  }

  get size(): number {
    return this.readers.size;
  }

  /** Whether there is a recipient. If there is none, a publisher need not build its event. */
  get hasReaders(): boolean {
    return this.readers.size > 0;
  }

  /** Throws a problem if the feed accepts no further reader. */
  requireCapacity(): void {
    if (this.isClosed)
      throw new AdminProblem('draining', 'the gateway is draining; it accepts no new readers');
    if (this.readers.size >= MAX_READERS)
      throw new AdminProblem('too-many-readers', `the feed serves at most ${MAX_READERS} readers`);
  }

  /** Adds a reader. Its first event is the snapshot; all later events are newer. */
  open(response: ServerResponse, snapshot: object): void {
    response.writeHead(200, HEADERS);
    response.once('close', () => this.readers.delete(response));
    response.write(this.serialize('snapshot', snapshot));
    this.readers.add(response);
  }

  /** Sends an event to all readers. Secrets in the data are redacted. */
  publish(kind: FeedEventKind, data: object): void {
    if (this.readers.size > 0) this.send(this.serialize(kind, data));
  }

  private serialize(kind: FeedEventKind, data: object): string {
    return `id: ${++this.lastId}\nevent: ${kind}\ndata: ${JSON.stringify(this.secrets.redact(data))}\n\n`;
  }

  private send(text: string): void {
    for (const reader of this.readers) {
      if (reader.writableLength > MAX_BUFFERED_BYTES) reader.destroy();
      else reader.write(text);
    }
  }
}
