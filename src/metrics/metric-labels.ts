/** Outcome of a request of a client. */
export type RequestOutcome = 'ok' | 'error';

/**
 * - `redelivered`: written again by a replay
 * - `coalesced`: replaced by a later notification with the same key, such as an update of the same resource
 * - `dropped`: removed from a full queue, or withdrawn because the client lost access to the server of the notification
 */
export const NOTIFICATION_OUTCOMES = ['written', 'redelivered', 'coalesced', 'dropped'] as const;
export type NotificationOutcome = (typeof NOTIFICATION_OUTCOMES)[number];

/** `left`: the client disconnected. `stuck`: the client stopped reading. `replaced`: the client opened the stream again. */
export const STREAM_ENDS = ['finished', 'left', 'replaced', 'stuck'] as const;
export type StreamEnd = (typeof STREAM_ENDS)[number];

/** `cancelled`: the client closed the response before the acknowledgement. `refused`: a limit is reached. */
export const LISTEN_OUTCOMES = ['acknowledged', 'cancelled', 'refused', 'failed'] as const;
export type ListenOutcome = (typeof LISTEN_OUTCOMES)[number];

export const AUTH_FAILURES = [
  'missing',
  'malformed',
  'invalid',
  'expired',
  'insufficient-scope',
  'unverifiable',
] as const;
export type AuthFailure = (typeof AUTH_FAILURES)[number];

/** `unheard`: no subscriber. `coalesced`: replaced by a later update of the same resource. */
export const UPDATE_OUTCOMES = ['delivered', 'unheard', 'coalesced'] as const;
export type UpdateOutcome = (typeof UPDATE_OUTCOMES)[number];

/** `limit`: a subscription limit is reached. `failed`: the server refused. `unknown`: the resource does not exist. */
export const SUBSCRIPTION_REJECTIONS = ['limit', 'failed', 'unavailable', 'unknown'] as const;
export type SubscriptionRejection = (typeof SUBSCRIPTION_REJECTIONS)[number];

export const JSON_SOURCES = ['client', 'admin', 'server'] as const;
export type JsonSource = (typeof JSON_SOURCES)[number];

/** `depth`, `members` and `size`: over a limit. `encoding`: not UTF-8. */
export const JSON_REFUSALS = ['syntax', 'encoding', 'depth', 'members', 'size'] as const;
export type JsonRefusal = (typeof JSON_REFUSALS)[number];

/** The limits that refuse sessions, streams, connections, requests, calls and processes: keys of `limits`, and `queue` of a server. */
export const REFUSED_LIMITS = [
  'sessions',
  'sessionsPerPrincipal',
  'listens',
  'streamsPerPrincipal',
  'connectionsPerPrincipal',
  'callsPerPrincipal',
  'queuedPerPrincipal',
  'processesPerPrincipal',
  'inFlightPerSession',
  'requestsPerPrincipal',
  'queue',
] as const;
export type RefusedLimit = (typeof REFUSED_LIMITS)[number];

/** Whether the input that a server required was obtained from the client. `forwarded`: the client repeats its request with it. */
export type InputOutcome = 'answered' | 'failed' | 'forwarded';

/** `change`: when an administrator sent the address. `connect`: when the server was to be connected. */
export const ADDRESS_CHECKS = ['change', 'connect'] as const;
export type AddressCheck = (typeof ADDRESS_CHECKS)[number];

/** Log lines that clients can cause: their number per second is limited. */
export const LINE_KINDS = ['failed-request', 'refused-credentials'] as const;
export type LineKind = (typeof LINE_KINDS)[number];

/** The methods that return lists in pages. */
export const LIST_METHODS = [
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
] as const;
