import { openSession } from './session.mjs';

/** One MCP client that sends one request at a time and reports the latency of each. */
export class Caller {
  #connection;
  #headers;
  #lastId = 0;

  static async open(url) {
    const { connection, headers } = await openSession(url);
    return new Caller(connection, headers);
  }

  constructor(connection, headers) {
    this.#connection = connection;
    this.#headers = headers;
  }

  async request(method, params = {}) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++this.#lastId, method, params });
    const sentAt = performance.now();
    const { body: bytes } = await this.#connection.request('POST', this.#headers, body);
    const ms = performance.now() - sentAt;
    const { result, error } = JSON.parse(responseIn(bytes.toString()));
    if (!result) throw new Error(`${method} failed with ${JSON.stringify(error)}`);
    return { result, ms };
  }

  close() {
    this.#connection.close();
  }
}

/** A long request is answered on an event stream, whose last event is the response. */
const responseIn = (body) => (body.startsWith('{') ? body : /.*^data: (.*)$/ms.exec(body)[1].trim());
