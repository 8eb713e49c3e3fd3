import { GatewayError } from '../core/errors.js';
import type { JsonDocument } from '../lib/json-text/json-document.js';
import type { Steps } from '../lib/slices/run-sliced.js';
import { isInitialize } from '../mcp/client-profile.js';
import { readMessage, type Inbound } from '../mcp/json-rpc.js';
import type { Session } from './session.js';

const MAX_BATCH_LENGTH = 20;

/** Reads the messages of a batch, one in each step. */
export function* readBatch(body: JsonDocument, session: Session): Steps<Inbound[]> {
  if (!session.revision.allowsBatches)
    throw new GatewayError(
      'invalid-request',
      `Invalid request: MCP ${session.revision.version} has no batches`,
    );
  const elements = yield* body.elementSteps();
  if (!elements || elements.length === 0 || elements.length > MAX_BATCH_LENGTH)
    throw new GatewayError(
      'invalid-request',
      `Invalid request: a batch has 1 to ${MAX_BATCH_LENGTH} messages`,
    );
  const messages: Inbound[] = [];
  for (const element of elements) {
    const message = readMessage(element);
    messages.push(
      isInitialize(message)
        ? { kind: 'invalid', id: message.id, problem: 'initialize must not be part of a batch' }
        : message,
    );
    yield;
  }
  return messages;
}
