/** Outcome of a request of a client. */
export type RequestOutcome = 'ok' | 'error';

/**
 * Outcome of a notification to a client.
 * - `redelivered`: written again by a replay
 * - `coalesced`: replaced by a later notification with the same key, such as an update of the same resource
 * - `dropped`: removed from a full queue, or withdrawn because the client lost access to the server of the notification
 */
export const NOTIFICATION_OUTCOMES = ['written', 'redelivered', 'coalesced', 'dropped'] as const;
export type NotificationOutcome = (typeof NOTIFICATION_OUTCOMES)[number];

/**
 * Why the connection of an event stream was closed.
 * - `finished`: the gateway wrote everything and ended the stream
 * - `left`: the client disconnected
 * - `replaced`: the client opened the stream again
 * - `stuck`: the client stopped reading
 */
export const STREAM_ENDS = ['finished', 'left', 'replaced', 'stuck'] as const;
export type StreamEnd = (typeof STREAM_ENDS)[number];

/**
 * Outcome of a request for a listen stream. `cancelled`: the client closed the response before the acknowledgement.
 * `refused`: a limit is reached.
 */
export const LISTEN_OUTCOMES = ['acknowledged', 'cancelled', 'refused', 'failed'] as const;
export type ListenOutcome = (typeof LISTEN_OUTCOMES)[number];

/** `unverifiable`: the gateway cannot fetch the keys of the token's issuer. */
export const AUTH_FAILURES = [
  'missing',
  'malformed',
  'invalid',
  'expired',
  'insufficient-scope',
  'unverifiable',
] as const;
export type AuthFailure = (typeof AUTH_FAILURES)[number];

/**
 * Outcomes of a resource update that was sent to no client. `unheard`: the resource had no subscriber. `coalesced`: a later
 * update replaced it.
 */
const UNSENT_UPDATE_OUTCOMES = ['unheard', 'coalesced'] as const;
export type UnsentUpdateOutcome = (typeof UNSENT_UPDATE_OUTCOMES)[number];

/** Outcomes of a notification that was written to a connection of a client. */
const WRITTEN_OUTCOMES = ['written', 'redelivered'] as const satisfies readonly NotificationOutcome[];
export type WrittenOutcome = (typeof WRITTEN_OUTCOMES)[number];

export const UPDATE_OUTCOMES = [...WRITTEN_OUTCOMES, ...UNSENT_UPDATE_OUTCOMES] as const;

/**
 * - `limit`: a subscription limit is reached
 * - `failed`: the server refused the subscription
 * - `unavailable`: the server is not available
 * - `unknown`: the resource does not exist
 */
export const SUBSCRIPTION_REJECTIONS = ['limit', 'failed', 'unavailable', 'unknown'] as const;
export type SubscriptionRejection = (typeof SUBSCRIPTION_REJECTIONS)[number];

/**
 * - `host`: the Host header is missing or not allowed
 * - `origin`: the Origin header is not allowed
 * - `several-hosts`: the request has more than one Host header
 */
export const ORIGIN_REFUSALS = ['host', 'origin', 'several-hosts'] as const;
export type OriginRefusal = (typeof ORIGIN_REFUSALS)[number];

export const JSON_SOURCES = ['client', 'admin', 'server'] as const;
export type JsonSource = (typeof JSON_SOURCES)[number];

/** Why a JSON text was not read. `depth`, `members` and `size`: it exceeds that limit. `encoding`: it is not UTF-8. */
export const JSON_REFUSALS = ['syntax', 'encoding', 'depth', 'members', 'size'] as const;
export type JsonRefusal = (typeof JSON_REFUSALS)[number];

/**
 * The limits that refuse sessions, streams, connections, requests, calls and processes. Each is named after its key in the
 * configuration. `queue` is a key of a server, and the other keys are in `limits`. Three limits have no key:
 * `parkedPerServer`, the maximum number of parked calls at one server, and `pipelined` and `pipelinedPerConnection`, the
 * maximum numbers of pipelined requests.
 */
export const REFUSING_LIMITS = [
  'sessions',
  'sessionsPerPrincipal',
  'listens',
  'streamsPerPrincipal',
  'connectionsPerPrincipal',
  'pipelined',
  'pipelinedPerConnection',
  'callsPerPrincipal',
  'queuedPerPrincipal',
  'processesPerPrincipal',
  'inFlightPerSession',
  'requestsPerPrincipal',
  'parkedCalls',
  'parkedPerServer',
  'queue',
] as const;
export type RefusingLimit = (typeof REFUSING_LIMITS)[number];

/**
 * Outcome of a request whose server required input of the client.
 * - `answered`: the gateway asked the client and sent the answers to the server
 * - `failed`: the input could not be obtained
 * - `forwarded`: the questions were sent to the client, which repeats its request with the answers
 */
export type InputOutcome = 'answered' | 'failed' | 'forwarded';

/**
 * Outcome of a question of a server of 2025 to a client of revision 2026-07-28. `refused`: the client was not asked, because
 * a limit was reached.
 */
export type QuestionOutcome = 'answered' | 'expired' | 'cancelled' | 'refused';

/**
 * When the address of a server is checked: when an administrator sends it (`change`), or before the gateway connects to it
 * (`connect`).
 */
export const ADDRESS_CHECKS = ['change', 'connect'] as const;
export type AddressCheck = (typeof ADDRESS_CHECKS)[number];

/** The kinds of log lines that clients can cause. The number of lines of each kind per second is limited. */
export const LINE_KINDS = ['failed-request', 'refused-credentials'] as const;
export type LineKind = (typeof LINE_KINDS)[number];

/** The methods that return lists in pages. */
export const LIST_METHODS = [
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
] as const;
