import { mapMember } from '../lib/json-text/json-text.js';
import { lazyEventFrame, type EventFrame } from '../mcp/event-frame.js';
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
export class ResourceUpdate implements DeliverOptions {
  readonly kind = 'resources/updated';
  private ownFrame: EventFrame | undefined;
  private key: string | undefined;

  constructor(private readonly news: News) {}

  /** Of several that wait for a slow reader, only the latest matters. */
  get coalesce(): string {
    return (this.key ??= `${UPDATED} ${this.news.server} ${this.news.uri}`);
  }

  get server(): string {
    return this.news.server;
  }

  get uri(): string {
    return this.news.uri;
  }

  get frame(): EventFrame {
    return (this.ownFrame ??= lazyEventFrame(this.news.size, () =>
      notificationMessage(UPDATED, this.news.params()),
    ));
  }

  /** For somebody who was not due with the others: what a client gets must count up, or it resumes in the wrong place. */
  later(): ResourceUpdate {
    return new ResourceUpdate(this.news);
  }
}

/** What the server wrote, with the URI that clients know. */
export const withPublicUri = (params: string, publicUri: string): string =>
  mapMember(params, 'uri', () => JSON.stringify(publicUri));

/** What the gateway says itself: that something may have changed, or is gone. */
export const ownParams = (publicUri: string, state?: 'deleted'): string =>
  JSON.stringify({ uri: publicUri, ...(state && { _meta: { 'io.gatehouse/state': state } }) });
