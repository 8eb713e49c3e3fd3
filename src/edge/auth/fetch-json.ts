import { JsonProblem, JsonReader } from '../../lib/json-text/json-reader.js';
import { Client, request } from 'undici';
import { egressOf } from '../../backends/http/egress.js';
import { EgressProxies } from '../../config/egress-proxies.js';

/** Limits of a response. A typical key set has a few thousand bytes. */
const RESPONSE_LIMITS = { maxBytes: 262_144, maxDepth: 16, maxMembers: 20_000 };

const CONNECT_TIMEOUT_MS = 5000;

/** Fetches a JSON document within limits, without following redirects. */
export async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  const proxies = EgressProxies.ofProcess();
  const { createConnector } = egressOf({ url }, { proxies, policy: undefined, tls: undefined });
  const dispatcher = new Client(new URL(url).origin, {
    connect: createConnector({ timeout: CONNECT_TIMEOUT_MS }),
  });
  const { statusCode, body } = await request(url, {
    dispatcher,
    signal,
    // Closes the connection after the response, because requests are minutes apart.
    reset: true,
    headers: { accept: 'application/json' },
  });
  const reader = new JsonReader(RESPONSE_LIMITS);
  for await (const chunk of body as AsyncIterable<Buffer>)
    if (!reader.append(chunk))
      throw new Error(`${url} answered with more than ${RESPONSE_LIMITS.maxBytes} bytes`);
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`);
  const read = reader.take();
  if (read instanceof JsonProblem) throw new Error(`${url} answered with a body that ${read.message}`);
  return JSON.parse(read.text);
}
