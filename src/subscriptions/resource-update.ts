import { mapMember } from '../lib/json-text/json-text.js';
import { lazyEventFrame, type EventFrame } from '../mcp/event-frame.js';
import type { NotificationEvent } from '../mcp/fan-out.js';
import { notificationMessage } from '../mcp/json-rpc.js';

const UPDATED = 'notifications/resources/updated';

/** An update as an event that sessions queue until it is sent. */
export class UpdateEvent implements NotificationEvent {
  readonly kind = 'resources/updated';
  private key: string | undefined;

  constructor(
    readonly server: string,
    readonly uri: string,
    readonly frame: EventFrame,
  ) {}

  /** Key in the queue of a slow client: a later update of the same resource replaces an earlier one. */
  get coalesce(): string {
    return (this.key ??= `${UPDATED} ${this.server} ${this.uri}`);
  }
}

/** One change of one resource, reported by its server or by the gateway itself. */
export class ResourceUpdate {
  /** Key in throttle and fan-out: a later update with the same key replaces one that waits. */
  readonly key: string;

  constructor(
    readonly server: string,
    readonly uri: string,
    /** Id of the session whose own link the update came on; undefined when it is for all subscribers. */
    readonly owner: string | undefined,
    private readonly content: {
      /** Approximate size of the params in bytes. */
      readonly size: number;
      /** Called when the event is first sent. */
      readonly params: () => string;
    },
  ) {
    this.key = updateKey(server, uri, owner);
  }

  createEvent(): UpdateEvent {
    const { size, params } = this.content;
    const frame = lazyEventFrame(size, () => notificationMessage(UPDATED, params()));
    return new UpdateEvent(this.server, this.uri, frame);
  }
}

export const updateKey = (server: string, uri: string, owner = ''): string =>
  `${UPDATED} ${owner} ${server} ${uri}`;

/** The params as the server wrote them, with the public URI. */
export const withPublicUri = (params: string, publicUri: string): string =>
  mapMember(params, 'uri', () => JSON.stringify(publicUri));

/** The params of an update by the gateway itself: the resource may have changed, or was deleted. */
export const gatewayParams = (publicUri: string, state?: 'deleted'): string =>
  JSON.stringify({ uri: publicUri, ...(state && { _meta: { 'io.gatehouse/state': state } }) });
