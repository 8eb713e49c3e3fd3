export type UpstreamRequestKind = 'subscribe' | 'unsubscribe';

/** Sends subscribe and unsubscribe requests to one server over one link. A promise rejects if its request fails. */
export interface Upstream {
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
  /** Called once, when the link is closed or the upstream is replaced. */
  stop?(): void;
}

/** The desired state. It is read from the subscription table and the catalog at every step, and never copied. */
export interface DesiredSubscriptions {
  isWanted(uri: string): boolean;
  /**
   * Whether the server offers the resource now. A failed subscription to a resource that is not offered is not retried.
   */
  isOffered(uri: string): boolean;
}

export interface ReconcilerEvents {
  /**
   * A URI was subscribed in the background after a time without a subscription, in which its subscribers may have
   * missed updates. Not called if the server has sent an update of the resource after this time began.
   */
  resubscribed(uri: string): void;
  /** A background request failed. */
  failed(request: UpstreamRequestKind, uri: string, error: unknown): void;
}
