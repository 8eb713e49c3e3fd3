import { connect } from 'node:net';

const CRLF = '\r\n';
const LONGEST_HEAD = 1024;
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/**
 * One keep-alive connection with one request in flight. Written on the bare socket, because an HTTP client costs as
 * much as what is to be measured, and shares two cores with it.
 */
export class Connection {
  #socket;
  #host;
  #path;
  #received = Buffer.allocUnsafe(256 * 1024);
  #used = 0;
  #head;
  #answered;
  #failed;

  static open(url) {
    const connection = new Connection(url);
    return new Promise((resolve, reject) => {
      connection.#failed = reject;
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
      // Read to where the rest of the response stands already: no stream, no chunks, no copy.
      onread: { buffer: () => this.#room(), callback: (bytes) => this.#read(bytes) },
    });
    this.#socket.on('error', (error) => this.#failed(error));
    this.#socket.on('close', () => this.#failed(new Error('the connection was closed')));
  }

  /** Everything of a request but its body. */
  head(method, headers, bodyBytes) {
    const all = { host: this.#host, ...headers, 'content-length': bodyBytes };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}${CRLF}`);
    return `${method} ${this.#path} HTTP/1.1${CRLF}${lines.join('')}${CRLF}`;
  }

  /** `answered` gets the status, the head as text, and the body in a buffer that lives until the next request. */
  send(text, answered, failed) {
    this.#answered = answered;
    this.#failed = failed;
    this.#socket.write(text, 'latin1');
  }

  request(method, headers, body = '') {
    return new Promise((resolve, reject) => {
      const head = this.head(method, headers, Buffer.byteLength(body));
      this.send(head + body, (status, text, bytes) => resolve({ status, head: text, body: bytes }), reject);
    });
  }

  close() {
    this.#failed = () => {};
    this.#socket.destroy();
  }

  #room() {
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
    this.#answered(status, text, body);
    return true;
  }

  #body({ start, length }) {
    if (length === undefined) return unchunked(this.#received, start, this.#used);
    return this.#used < start + length ? undefined : this.#received.subarray(start, start + length);
  }
}

/** Undefined as long as it is not whole. */
function readHead(bytes, used) {
  const beginning = bytes.latin1Slice(0, Math.min(used, LONGEST_HEAD));
  const start = beginning.indexOf(CRLF + CRLF) + 4;
  if (start < 4) return undefined;
  const text = beginning.slice(0, start);
  const length = /content-length: *(\d+)/i.exec(text);
  return { status: Number(text.slice(9, 12)), text, start, length: length ? Number(length[1]) : undefined };
}

/** The body whose parts stand from `at` on, once the last one is there. */
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
