/** Who sends a request, as the edge found out; never from what a message claims. */
export interface Principal {
  /** Stable over token refreshes: the id of a key, or issuer and subject of a token. */
  readonly id: string;
  /** The projects it may use, or everything. */
  readonly grants: ReadonlySet<string> | '*';
}

/** Everybody, where no authentication is configured. */
export const ANONYMOUS: Principal = { id: 'anonymous', grants: '*' };
