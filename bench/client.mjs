import { openSession } from './session.mjs';
import { ID, WORKLOADS } from './workloads.mjs';

/** One MCP client: a connection with a session of its own, which sends the next request when it has an answer. */
export class Client {
  #connection;
  #headers;
  #lastId;
  #template;

  static async open(url, number) {
    const { connection, headers } = await openSession(url);
    return new Client(connection, headers, number);
  }

  constructor(connection, headers, number) {
    this.#connection = connection;
    this.#headers = headers;
    // All of the same width, and no two clients with one in common.
    this.#lastId = (100 + number) * 1_000_000;
  }

  /** Requests one after the other until `record`, which gets the milliseconds each one took, says false. */
  run(workload, prefix, record) {
    const { request, isRight } = WORKLOADS[workload];
    const parts = request(prefix).split(ID);
    const bytes = parts.join(String(this.#lastId)).length;
    parts[0] = this.#connection.head('POST', this.#headers, bytes) + parts[0];
    return new Promise((resolve, reject) => {
      let id;
      let sentAt;
      const next = () => {
        id = String(++this.#lastId);
        sentAt = performance.now();
        this.#connection.send(parts.join(id), answered, reject);
      };
      const answered = (status, _head, body) => {
        if (status !== 200 || !this.#verify(body, id, isRight))
          reject(new Error(`a wrong answer to ${workload}: HTTP ${status} ${body.toString().slice(0, 300)}`));
        else if (record(performance.now() - sentAt)) next();
        else resolve();
      };
      next();
    });
  }

  async close() {
    await this.#connection.request('DELETE', this.#headers);
    this.#connection.close();
  }

  /** The first answer is read; all others must be the same bytes but for the id. */
  #verify(body, id, isRight) {
    if (this.#template) return this.#template.matches(body, id);
    const { id: answeredId, result } = JSON.parse(messageIn(body.toString()));
    this.#template = new Template(body, id);
    return String(answeredId) === id && isRight(result, id);
  }
}

/** The one message of a body, whether it is plain JSON or an event stream. */
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
