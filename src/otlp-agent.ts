import { Agent as HttpAgent, type ClientRequest } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import { egressOf, type ForwardProxy } from './backends/http/egress.js';
import type { EgressProxies } from './config/egress-proxies.js';

/** Called with the new connection, or with the reason why there is none. */
type ConnectCallback = (error: Error | null, socket: Socket | null) => void;

/** The HTTP agent for requests to this URL. It uses the proxy that is configured for the URL. */
export function agentFor(url: URL, proxies: EgressProxies): HttpAgent {
  const { createConnector, forwardProxy } = egressOf(
    { url: url.href },
    { proxies, policy: undefined, tls: undefined },
  );
  const { hostname, host, protocol, port } = url;
  const connector = createConnector();
  // The connector expects an IPv6 address without its brackets.
  const createConnection = (_options: unknown, callback: ConnectCallback): void =>
    connector({ hostname: hostname.replace(/^\[(.*)\]$/, '$1'), host, protocol, port }, callback);
  if (protocol === 'https:') return Object.assign(new HttpsAgent(), { createConnection });
  const agent = Object.assign(new HttpAgent(), { createConnection });
  return forwardProxy ? withAbsoluteForm(agent, url.origin, forwardProxy) : agent;
}

/**
 * Makes the agent send complete URLs in request lines, as a forward proxy requires. Node calls `addRequest` before it
 * writes the request line.
 */
function withAbsoluteForm(agent: HttpAgent, origin: string, { authorization }: ForwardProxy): HttpAgent {
  const { addRequest } = agent as unknown as {
    addRequest: (this: HttpAgent, request: ClientRequest, options: object) => void;
  };
  return Object.assign(agent, {
    addRequest(request: ClientRequest, options: object): void {
      request.path = `${origin}${request.path}`;
      if (authorization !== undefined) request.setHeader('proxy-authorization', authorization);
      addRequest.call(agent, request, options);
    },
  });
}
