import { connect } from 'node:net';

const CRLF = '\r\n';
const MAX_HEAD_BYTES = 1024;
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/**
 * One keep-alive connection with one request in flight, on a bare socket: an HTTP client would cost as much as the
 * gateway under test and shares two cores with it.
 */
export class Connection {
  #socket;
  #host;
  #path;
  #received = Buffer.allocUnsafe(256 * 1024);
  #used = 0;
  #head;
  #onResponse;
  #onFailure;

  static open(url) {
    const connection = new Connection(url);
    return new Promise((resolve, reject) => {
      connection.#onFailure = reject;
      connection.#socket.once('connect', () => resolve(connection));
    });
  }

  constructor(url) {
    const { hostname, port, host, pathname } = new URL(url);
    this.#host = host;
    this.#path = pathname;
    this.#socket = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      // Reads append to one buffer: no stream, no chunks, no copy.
      onread: { buffer: () => this.#freeSpace(), callback: (bytes) => this.#read(bytes) },
    });
    this.#socket.on('error', (error) => this.#onFailure(error));
    this.#socket.on('close', () => this.#onFailure(new Error('the connection was closed')));
  }

  /** A request without its body. */
  head(method, headers, bodyBytes) {
    const all = { host: this.#host, ...headers, 'content-length': bodyBytes };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}${CRLF}`);
    return `${method} ${this.#path} HTTP/1.1${CRLF}${lines.join('')}${CRLF}`;
  }

  /** `onResponse` gets the status, the head as text, and the body in a buffer that is valid until the next request. */
  send(text, onResponse, onFailure) {
    this.#onResponse = onResponse;
    this.#onFailure = onFailure;
    this.#socket.write(text, 'latin1');
  }

  request(method, headers, body = '') {
    return new Promise((resolve, reject) => {
      const head = this.head(method, headers, Buffer.byteLength(body));
      this.send(head + body, (status, text, bytes) => resolve({ status, head: text, body: bytes }), reject);
    });
  }

  close() {
    this.#onFailure = () => {};
    this.#socket.destroy();
  }

  #freeSpace() {
    if (this.#used === this.#received.length) {
      const larger = Buffer.allocUnsafe(2 * this.#used);
      this.#received.copy(larger);
      this.#received = larger;
    }
    return this.#received.subarray(this.#used);
  }

  #read(bytes) {
    this.#used += bytes;
    this.#head ??= readHead(this.#received, this.#used);
    const body = this.#head && this.#body(this.#head);
    if (!body) return true;
    const { status, text } = this.#head;
    this.#head = undefined;
    this.#used = 0;
    this.#onResponse(status, text, body);
    return true;
  }

  #body({ start, length }) {
    if (length === undefined) return unchunked(this.#received, start, this.#used);
    return this.#used < start + length ? undefined : this.#received.subarray(start, start + length);
  }
}

/** Undefined while the head is incomplete. */
function readHead(bytes, used) {
  const beginning = bytes.latin1Slice(0, Math.min(used, MAX_HEAD_BYTES));
  const start = beginning.indexOf(CRLF + CRLF) + 4;
  if (start < 4) return undefined;
  const text = beginning.slice(0, start);
  const length = /content-length: *(\d+)/i.exec(text);
  return { status: Number(text.slice(9, 12)), text, start, length: length ? Number(length[1]) : undefined };
}

/** The chunked body that begins at `at`; undefined while its last chunk is missing. */
function unchunked(bytes, at, end) {
  if (!bytes.subarray(at, end).subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)) return undefined;
  const parts = [];
  for (;;) {
    const line = bytes.indexOf(CRLF, at, 'latin1');
    const size = Number.parseInt(bytes.latin1Slice(at, line), 16);
    if (size === 0) return Buffer.concat(parts);
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}
