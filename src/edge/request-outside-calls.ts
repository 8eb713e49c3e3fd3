import { GatewayError } from '../core/errors.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import { messageFrame, type OutgoingMessage } from '../mcp/event-frame.js';
import type { ClientRequestOptions } from '../mcp/mcp-context.js';
import type { RequestsToClient } from './requests-to-client.js';
import type { RunningRequests } from './running-requests.js';
import type { SessionStreams } from './session-streams.js';

/** Maximum time that a request of a server waits until the client opens its standalone stream. */
const STREAM_WAIT_MS = 5000;

/** The session whose client receives the request: the part of it that is needed for this. */
interface ReceivingSession {
  readonly isClosed: boolean;
  readonly streams: Pick<SessionStreams, 'standalone' | 'whenListening'>;
  readonly requests: Pick<RunningRequests, 'latest'>;
  readonly requestsToClient: Pick<RequestsToClient, 'send'>;
}

/**
 * Sends the client a request that a server made outside of any call. Uses the standalone stream, or the response stream of
 * a running request if the standalone stream is not connected. If there is neither, waits for the standalone stream.
 */
export async function sendRequestOutsideCalls(
  session: ReceivingSession,
  method: string,
  params: JsonText | undefined,
  options: ClientRequestOptions,
): Promise<JsonText> {
  const { standalone } = session.streams;
  const runningRequest = standalone.isConnected ? undefined : session.requests.latest;
  if (runningRequest) return runningRequest.sendRequest(method, params, options);
  if (!standalone.isConnected) await session.streams.whenListening(STREAM_WAIT_MS);
  if (options.signal.aborted) throw new GatewayError('cancelled', 'The request was cancelled');
  if (session.isClosed || !standalone.isConnected)
    throw new GatewayError('internal', 'The client has no open stream for a request');
  const write = (message: OutgoingMessage): boolean =>
    standalone.send(messageFrame(message), { refusable: true });
  return session.requestsToClient.send(method, params, options, write);
}
