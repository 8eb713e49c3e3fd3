import { once } from 'node:events';
import {
  Agent,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer } from 'node:net';
import { onCleanup } from './cleanup.js';
import { within } from './until.js';

export interface RawRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** The address of the client. */
  readonly localAddress?: string | undefined;
}

export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const agent = new Agent({ keepAlive: true });
onCleanup(() => agent.destroy());

/** Resolves when the head has arrived; the caller reads the body. Adds no header except the length. */
export function openExchange(
  url: string,
  { method = 'GET', headers, body, localAddress }: RawRequest,
): Promise<IncomingMessage> {
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent, localAddress }, resolve);
    // The listener stays for a connection that breaks after the response.
    outgoing.on('error', reject);
    outgoing.end(body);
  });
  return within(`an answer to ${method} ${url}`, response, 30_000);
}

export async function bodyOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Sends a request and reads the whole response. */
export async function exchange(url: string, sent: RawRequest = {}): Promise<RawResponse> {
  const response = await openExchange(url, sent);
  const text = await within('the body', bodyOf(response), 30_000);
  return { status: response.statusCode!, headers: response.headers, text };
}

/** Ports below those that the kernel assigns to connections (from 32,768 on), so that no connection takes one first. */
const PORTS = { first: 16_384, count: 16_384 };

/** A port without a listener. */
export async function freePort(): Promise<number> {
  const port = PORTS.first + Math.floor(Math.random() * PORTS.count);
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
  return isFree ? port : freePort();
}

/** Writes until the client closes the connection, or to 160 MB. Resolves with the number of bytes. */
export async function writeEndlessly(response: ServerResponse): Promise<number> {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const closed = once(response, 'close');
  let written = 0;
  while (!response.destroyed && written < 160_000_000) {
    written += chunk.length;
    if (!response.write(chunk)) await Promise.race([once(response, 'drain').catch(() => {}), closed]);
  }
  return written;
}
