import { mapMember } from '../core/json-text.js';
import { lateEventFrame, type EventFrame } from '../mcp/event-frame.js';
import { notificationMessage } from '../mcp/json-rpc.js';
import type { DeliverOptions } from '../mcp/mcp-context.js';

const UPDATED = 'notifications/resources/updated';

/** What a server or the gateway itself says of a resource. */
export interface News {
  readonly server: string;
  readonly uri: string;
  /** The one client it is for; absent when it is for all. */
  readonly only: string | undefined;
  /** About as many bytes as `params` has. */
  readonly size: number;
  /** Asked for when somebody takes them. */
  readonly params: () => string;
}

/** One change of one resource: encoded once, when the first subscriber is due, whoever gets it after that. */
export class ResourceUpdate {
  private encoded: EventFrame | undefined;

  constructor(
    readonly options: DeliverOptions,
    /** About as many bytes as it has. */
    private readonly size: number,
    private readonly params: () => string,
  ) {}

  static of({ server, uri, size, params }: News): ResourceUpdate {
    // Of several that wait for a slow reader, only the latest matters.
    const options = { coalesce: `${UPDATED} ${server} ${uri}`, kind: 'resources/updated' } as const;
    return new ResourceUpdate(options, size, params);
  }

  get frame(): EventFrame {
    return (this.encoded ??= lateEventFrame(this.size, () => notificationMessage(UPDATED, this.params())));
  }

  /** For somebody who was not due with the others: what a client gets must count up, or it resumes in the wrong place. */
  later(): ResourceUpdate {
    return new ResourceUpdate(this.options, this.size, this.params);
  }
}

/** What the server wrote, with the URI that clients know. */
export const withPublicUri = (params: string, publicUri: string): string =>
  mapMember(params, 'uri', () => JSON.stringify(publicUri));

/** What the gateway says itself: that something may have changed, or is gone. */
export const ownParams = (publicUri: string, state?: 'deleted'): string =>
  JSON.stringify({ uri: publicUri, ...(state && { _meta: { 'io.gatehouse/state': state } }) });
