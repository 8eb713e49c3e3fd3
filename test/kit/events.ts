import type { IncomingMessage } from 'node:http';
import { until } from './until.js';

/** One server-sent event. */
export interface ServerEvent {
  /** The name in the field `event`. */
  readonly name: string | undefined;
  readonly id: string | undefined;
  readonly data: string;
}

export interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** The events of one response, read as they arrive. */
export class Events {
  readonly all: ServerEvent[] = [];
  /** The messages so far; events without data are left out. */
  readonly messages: Message[] = [];
  hasEnded = false;
  private rest = '';
  private listener: (message: Message) => void = () => {};

  constructor(private readonly response: IncomingMessage) {
    response.setEncoding('utf8').on('data', (text: string) => this.read(text));
    response.once('close', () => (this.hasEnded = true));
    response.once('error', () => (this.hasEnded = true));
  }

  get status(): number {
    return this.response.statusCode!;
  }

  /** Calls this listener, in place of the previous one, with every later message. */
  onMessage(listener: (message: Message) => void): void {
    this.listener = listener;
  }

  get lastId(): string {
    const id = this.all.findLast((event) => event.id !== undefined)?.id;
    if (id === undefined) throw new Error('no event had an id');
    return id;
  }

  /** Waits for the first message that satisfies the condition. It may have arrived before. */
  message(what: string, matches: (message: Message) => boolean, timeoutMs?: number): Promise<Message> {
    return until(`${what} is on the stream`, () => this.messages.find(matches), timeoutMs);
  }

  count(method: string): number {
    return this.messages.filter((message) => message.method === method).length;
  }

  untilEnded(timeoutMs?: number): Promise<unknown> {
    return until('the stream has ended', () => this.hasEnded, timeoutMs);
  }

  /** Stops reading. */
  pause(): void {
    this.response.pause();
  }

  /** Breaks the connection without an orderly end. */
  disconnect(): void {
    this.response.destroy();
  }

  private read(text: string): void {
    const blocks = (this.rest + text).split('\n\n');
    this.rest = blocks.pop() ?? '';
    for (const block of blocks) this.add(block);
  }

  private add(block: string): void {
    const lines = block.split('\n');
    const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trimStart());
    if (data.length === 0) return;
    const fieldOf = (field: string): string | undefined =>
      lines
        .find((line) => line.startsWith(`${field}:`))
        ?.slice(field.length + 1)
        .trim();
    const event = { name: fieldOf('event'), id: fieldOf('id'), data: data.join('\n') };
    this.all.push(event);
    if (event.data === '') return;
    const message = JSON.parse(event.data) as Message;
    this.messages.push(message);
    this.listener(message);
  }
}
