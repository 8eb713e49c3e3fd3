export type UpstreamRequestKind = 'subscribe' | 'unsubscribe';

/** The requests to one server over one link. */
export interface Upstream {
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
  /** Called once, when the link is closed or the upstream is replaced. */
  stop?(): void;
}

/** The desired state. It is read from the subscription table at every step and never copied. */
export interface DesiredSubscriptions {
  isWanted(uri: string): boolean;
  /** Whether the server offers the resource now. If not, a failed subscription to it is not retried. */
  isOffered(uri: string): boolean;
}

export interface ReconcilerEvents {
  /**
   * A URI was subscribed in the background, and its subscribers may have missed updates. Not called if the server has sent
   * them an update since the gap.
   */
  resubscribed(uri: string): void;
  /** A background request failed. */
  failed(request: UpstreamRequestKind, uri: string, error: unknown): void;
}
