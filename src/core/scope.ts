/** Which servers a caller may see. One value, made once per request, used by every list, call and notification. */
export interface Scope {
  /** Equal keys see equal servers, so whatever is built for a scope can be kept under its key. */
  readonly key: string;
  allows(server: string): boolean;
}

export const EVERYTHING: Scope = { key: '*', allows: () => true };
