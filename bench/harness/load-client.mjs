import { openSession, openSessionless } from './session.mjs';
import { ID, WORKLOADS } from './workloads.mjs';

/** One MCP client: a connection, in 2025 with its own session, that sends the next request when it has the response. */
export class LoadClient {
  #connection;
  #headers;
  #lastId;
  #template;

  static async open({ url, era }, number) {
    const { connection, headers } = era === '2026' ? await openSessionless(url) : await openSession(url);
    return new LoadClient(connection, headers, number);
  }

  constructor(connection, headers, number) {
    this.#connection = connection;
    this.#headers = headers;
    // All ids have the same width, and no two clients share one.
    this.#lastId = (100 + number) * 1_000_000;
  }

  /** Sends requests one after the other until `record`, which gets the latency of each, returns false. */
  run(workload, target, record) {
    const { request, headers, isRight } = WORKLOADS[workload];
    const parts = request(target).split(ID);
    const bytes = parts.join(String(this.#lastId)).length;
    this.#template = undefined;
    const all = { ...this.#headers, ...headers?.(target) };
    parts[0] = this.#connection.head('POST', all, bytes) + parts[0];
    return new Promise((resolve, reject) => {
      let id;
      let sentAt;
      const next = () => {
        id = String(++this.#lastId);
        sentAt = performance.now();
        this.#connection.send(parts.join(id), onResponse, reject);
      };
      const onResponse = (status, _head, body) => {
        if (status !== 200 || !this.#verify(body, id, isRight))
          reject(new Error(`wrong response to ${workload}: HTTP ${status} ${body.toString().slice(0, 300)}`));
        else if (record(performance.now() - sentAt)) next();
        else resolve();
      };
      next();
    });
  }

  async close() {
    if (this.#headers['mcp-session-id']) await this.#connection.request('DELETE', this.#headers);
    this.#connection.close();
  }

  /** The first response is parsed; all others must be the same bytes except for the id. */
  #verify(body, id, isRight) {
    if (this.#template) return this.#template.matches(body, id);
    const { id: responseId, result } = JSON.parse(messageIn(body.toString()));
    this.#template = new Template(body, id);
    return String(responseId) === id && isRight(result, id);
  }
}

/** The only message of a body, which is JSON or an event stream. */
const messageIn = (text) => /^data: (.*)$/m.exec(text)?.[1] ?? text;

class Template {
  #bytes;
  #places = [];

  constructor(body, id) {
    this.#bytes = Buffer.from(body);
    for (let at = body.indexOf(id); at !== -1; at = body.indexOf(id, at + 1)) this.#places.push(at);
  }

  matches(body, id) {
    for (const at of this.#places) this.#bytes.latin1Write(id, at);
    return this.#bytes.equals(body);
  }
}
