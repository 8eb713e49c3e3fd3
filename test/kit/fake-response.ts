import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { flushPromises } from './promises.js';

/** An HTTP response on an in-memory connection. */
export class FakeResponse {
  readonly response = new ServerResponse(new IncomingMessage(new Socket()));
  private readonly wire = new PassThrough();
  private text = '';

  constructor() {
    this.response.assignSocket(this.wire as unknown as Socket);
    this.wire.on('data', (bytes: Buffer) => (this.text += bytes.toString()));
  }

  /** The messages written so far. */
  get messages(): { id?: number; method?: string; params?: unknown }[] {
    return [...this.text.matchAll(/^data: (\{.*\})$/gm)].map(([, data]) => JSON.parse(data!) as object);
  }

  get methods(): (string | undefined)[] {
    return this.messages.map(({ method }) => method);
  }

  /** All that was written so far, with the head and the chunk lengths. */
  get written(): string {
    return this.text;
  }

  /** Stops reading, so that the connection is full after some kilobytes. */
  pause(): void {
    this.wire.pause();
  }

  async resume(): Promise<void> {
    this.wire.resume();
    while (this.wire.writableLength > 0 || this.wire.readableLength > 0) await flushPromises();
    this.response.emit('drain');
    await flushPromises();
  }

  async disconnect(): Promise<void> {
    this.wire.destroy();
    await flushPromises();
  }
}
