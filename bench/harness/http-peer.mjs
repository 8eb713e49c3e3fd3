import { Agent, request as httpRequest } from 'node:http';

const PROTOCOL_VERSION = '2025-11-25';

/** HTTP requests to one gateway with one API key, each with a timeout. */
export class HttpPeer {
  #agent = new Agent({ keepAlive: true });
  #url;
  #key;

  constructor(url, key) {
    this.#url = url;
    this.#key = key;
  }

  /** Sends a request; `onResponse` may leave the response unread. Resolves with status, headers and body. */
  send({ method = 'POST', path, body = '', headers = {}, timeoutMs = 30_000, onResponse } = {}) {
    return new Promise((resolve, reject) => {
      const options = {
        method,
        agent: this.#agent,
        timeout: timeoutMs,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'content-length': Buffer.byteLength(body),
          ...(this.#key && { authorization: `Bearer ${this.#key}` }),
          ...headers,
        },
      };
      const request = httpRequest(path ? new URL(path, this.#url) : this.#url, options, (response) => {
        response.on('error', reject);
        if (onResponse) return resolve(onResponse(response, request));
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
        return undefined;
      });
      request.on('timeout', () => request.destroy(new Error(`no response within ${timeoutMs} ms`)));
      request.on('error', reject);
      request.end(body);
    });
  }

  /** Opens a session and returns the headers of its requests. */
  async initialize(
    capabilities = {},
    clientInfo = { name: 'bench', version: '1' },
    protocolVersion = PROTOCOL_VERSION,
  ) {
    const params = { protocolVersion, capabilities, clientInfo };
    const { status, headers } = await this.send({ body: message('initialize', params) });
    const session = headers['mcp-session-id'];
    if (status !== 200 || !session) throw new Error(`initialize was answered with HTTP ${status}`);
    return { 'mcp-session-id': session, 'mcp-protocol-version': protocolVersion };
  }

  close() {
    this.#agent.destroy();
  }
}

let lastId = 0;
export const message = (method, params) => JSON.stringify({ jsonrpc: '2.0', id: ++lastId, method, params });
