import { openSession } from './session.mjs';

/** One MCP client that makes one request after the other and says how long each took. */
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

  async request(method, params) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++this.#lastId, method, params });
    const sentAt = performance.now();
    const { body: bytes } = await this.#connection.request('POST', this.#headers, body);
    const ms = performance.now() - sentAt;
    const { result, error } = JSON.parse(answerIn(bytes.toString()));
    if (!result) throw new Error(`${method} was answered with ${JSON.stringify(error)}`);
    return { result, ms };
  }

  close() {
    this.#connection.close();
  }
}

/** What takes long is answered on a stream: then it is the last event. */
const answerIn = (body) => (body.startsWith('{') ? body : /.*^data: (.*)$/ms.exec(body)[1].trim());
