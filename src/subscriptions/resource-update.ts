import { mapMember } from '../lib/json-text/json-text.js';
import { EVERYTHING, type Scope } from '../core/scope.js';
import { notificationFrame, type NotificationFrame } from '../mcp/event-frame.js';
import type { NotificationEvent } from '../mcp/fan-out.js';

const UPDATED = 'notifications/resources/updated';

/** An update under one public URI: the event that waits in the queue of a subscriber until it is sent. */
export class UpdateEvent implements NotificationEvent {
  readonly frame: NotificationFrame;
  private cachedCoalesce: string | undefined;
  /** The events for scopes in which the resource has another public URI than `publicUri`, by that URI. */
  private variants: Map<string, UpdateEvent> | undefined;

  constructor(
    private readonly update: ResourceUpdate,
    private readonly publicUri: string,
  ) {
    const { size, params } = update.content;
    this.frame = notificationFrame(UPDATED, 'resources/updated', size, () => params(publicUri));
  }

  get server(): string {
    return this.update.server;
  }

  get uri(): string {
    return this.update.uri;
  }

  /** Key in the queue of a slow client. A later update with the same key replaces an earlier one. */
  get coalesce(): string {
    return (this.cachedCoalesce ??= coalesceKey(this.server, this.uri));
  }

  /** The same update under the public URI in this scope. Scopes with the same public URI share one event. */
  inScope(scope: Scope): UpdateEvent {
    const publicUri = this.update.publicUri(scope);
    if (publicUri === this.publicUri) return this;
    this.variants ??= new Map();
    const variant = this.variants.get(publicUri) ?? new UpdateEvent(this.update, publicUri);
    this.variants.set(publicUri, variant);
    return variant;
  }
}

/** An update of one resource, from its server or from the gateway itself. */
export class ResourceUpdate {
  /** Key in the throttle and the fan-out. A later update with the same key replaces one that waits. */
  readonly key: string;
  /** By key of the scope. */
  private readonly publicUris = new Map<string, string>();

  constructor(
    readonly server: string,
    /** Own URI of the resource. */
    readonly uri: string,
    /** The id of a link owner: if set, only subscribers of this owner get the update. */
    readonly onlyOwner: string | undefined,
    readonly content: {
      /** Approximate size of the params in bytes. */
      readonly size: number;
      /** Returns the params as JSON. Called when the event is sent for the first time. */
      readonly params: (publicUri: string) => string;
      /** Returns the public URI of the resource in a scope. */
      readonly publicUri: (scope: Scope) => string;
    },
  ) {
    this.key = updateKey(server, uri, onlyOwner);
  }

  createEvent(scope: Scope = EVERYTHING): UpdateEvent {
    return new UpdateEvent(this, this.publicUri(scope));
  }

  publicUri(scope: Scope): string {
    let uri = this.publicUris.get(scope.key);
    if (uri === undefined) {
      uri = this.content.publicUri(scope);
      this.publicUris.set(scope.key, uri);
    }
    return uri;
  }
}

export const updateKey = (server: string, uri: string, onlyOwner = ''): string =>
  `${UPDATED} ${onlyOwner} ${server} ${uri}`;

/** The key of an update in the queue of a client. */
export const coalesceKey = (server: string, uri: string): string => `${UPDATED} ${server} ${uri}`;

/** The params as the server wrote them, with the public URI. */
export const withPublicUri = (params: string, publicUri: string): string =>
  mapMember(params, 'uri', () => JSON.stringify(publicUri));

/** The params of an update from the gateway itself. An update without `state` tells clients that the resource may have changed. */
export const gatewayParams = (publicUri: string, state?: 'deleted'): string =>
  JSON.stringify({ uri: publicUri, ...(state && { _meta: { 'io.gatehouse/state': state } }) });
