import { mapMember } from '../core/json-text.js';
import type { Address } from '../core/resource-uri.js';
import { eventFrame, type EventFrame } from '../mcp/event-frame.js';
import { notificationMessage } from '../mcp/json-rpc.js';

const UPDATED = 'notifications/resources/updated';

/** One change of one resource: encoded once, when the first subscriber is due, whoever gets it after that. */
export class ResourceUpdate {
  private encoded: EventFrame | undefined;

  constructor(
    /** Of several that wait for a slow reader, only the latest matters. */
    readonly key: string,
    private readonly params: () => string,
  ) {}

  static of({ server, uri }: Address, params: () => string): ResourceUpdate {
    return new ResourceUpdate(`${UPDATED} ${server} ${uri}`, params);
  }

  get frame(): EventFrame {
    return (this.encoded ??= eventFrame(notificationMessage(UPDATED, this.params())));
  }

  /** For somebody who was not due with the others: what a client gets must count up, or it resumes in the wrong place. */
  later(): ResourceUpdate {
    return new ResourceUpdate(this.key, this.params);
  }
}

/** What the server wrote, with the URI that clients know. */
export const withPublicUri = (params: string, publicUri: string): string =>
  mapMember(params, 'uri', () => JSON.stringify(publicUri));

/** What the gateway says itself: that something may have changed, or is gone. */
export const ownParams = (publicUri: string, state?: 'deleted'): string =>
  JSON.stringify({ uri: publicUri, ...(state && { _meta: { 'io.gatehouse/state': state } }) });
