import { GatewayError } from '../core/errors.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import { messageFrame, type OutgoingMessage } from '../mcp/event-frame.js';
import type { ClientRequestOptions } from '../mcp/mcp-context.js';
import type { RequestsToClient } from './requests-to-client.js';
import type { RunningRequests } from './running-requests.js';
import type { SessionStreams } from './session-streams.js';

/** How long a request of a server waits for the client, which opens its standalone stream after `initialized`. */
const STREAM_WAIT_MS = 5000;

interface RequestedSession {
  readonly isClosed: boolean;
  readonly streams: Pick<SessionStreams, 'standalone' | 'whenListening'>;
  readonly requests: Pick<RunningRequests, 'latest'>;
  readonly requestsToClient: Pick<RequestsToClient, 'send'>;
}

/**
 * Sends a request of a server that belongs to no call. While the client has no standalone stream, sends it on the response
 * stream of a running request.
 */
export async function requestOutsideCalls(
  session: RequestedSession,
  method: string,
  params: JsonText | undefined,
  options: ClientRequestOptions,
): Promise<JsonText> {
  const { standalone } = session.streams;
  const running = standalone.isConnected ? undefined : session.requests.latest;
  if (running) return running.sendRequest(method, params, options);
  if (!standalone.isConnected) await session.streams.whenListening(STREAM_WAIT_MS);
  if (options.signal.aborted) throw new GatewayError('cancelled', 'The request was cancelled');
  if (session.isClosed || !standalone.isConnected)
    throw new GatewayError('internal', 'The client has no open stream for a request');
  const write = (message: OutgoingMessage): boolean =>
    standalone.send(messageFrame(message), { refusable: true });
  return session.requestsToClient.send(method, params, options, write);
}
