import { mapMember } from '../core/json-text.js';
import { eventFrame, type EventFrame } from '../mcp/event-frame.js';
import { notificationMessage } from '../mcp/json-rpc.js';

const UPDATED = 'notifications/resources/updated';

/** One change of one resource: encoded once, when the first subscriber is due, whoever gets it after that. */
export class ResourceUpdate {
  private encoded: EventFrame | undefined;
  /** Of several that wait for a slow reader, only the latest matters. */
  readonly key: string;

  constructor(
    server: string,
    uri: string,
    private readonly params: () => string,
  ) {
    this.key = `${UPDATED} ${server} ${uri}`;
  }

  get frame(): EventFrame {
    return (this.encoded ??= eventFrame(notificationMessage(UPDATED, this.params())));
  }
}

/** What the server wrote, with the URI that clients know. */
export const withPublicUri = (params: string, publicUri: string): string =>
  mapMember(params, 'uri', () => JSON.stringify(publicUri));

/** What the gateway says itself: that something may have changed, or is gone. */
export const ownParams = (publicUri: string, state?: 'deleted'): string =>
  JSON.stringify({ uri: publicUri, ...(state && { _meta: { 'io.gatehouse/state': state } }) });
