import { Integer } from './schema/keys.js';

/** The gateway keeps a message as one string. V8 allows a string of about twice this length. */
const MAX_MESSAGE_BYTES = 268_435_456;
const MAX_TOTAL_BYTES = 68_719_476_736;

/** Resource limits. There is no value for "unlimited". */
export class Limits {
  @Integer(
    1,
    1_000_000,
    'Maximum number of open sessions. When it is reached, a new session replaces one of the principal with the most sessions: ' +
      'of the oldest sessions of that principal, the one that has been idle for the longest time. The new session is refused ' +
      'if that principal has at most one session more than the principal of the new session.',
  )
  readonly sessions: number = 10_000;

  @Integer(1, 1_000_000, 'Maximum number of open sessions of one principal.')
  readonly sessionsPerPrincipal: number = 2_000;

  @Integer(
    1,
    1_000_000,
    'Maximum number of listen streams (`subscriptions/listen`) of all clients of revision 2026-07-28 together.',
  )
  readonly listens: number = 10_000;

  @Integer(
    1,
    1_000_000,
    'Maximum number of standalone event streams (GET) and listen streams of one principal together.',
  )
  readonly streamsPerPrincipal: number = 2_000;

  @Integer(1, 1_000_000, 'Maximum number of HTTP connections of one principal.')
  readonly connectionsPerPrincipal: number = 4_000;

  @Integer(1, 1_000_000, 'Maximum number of calls of one principal that servers are working on.')
  readonly callsPerPrincipal: number = 512;

  @Integer(1, 1_000_000, 'Maximum number of calls of one principal that wait in the queue of one server.')
  readonly queuedPerPrincipal: number = 1_000;

  @Integer(
    1,
    100_000,
    'Maximum number of parked calls of one principal. A call of a client of revision 2026-07-28 is parked while a server of ' +
      '2025 waits for the answer of the client to a question. At one server, the number of parked calls is at most half of ' +
      'its `concurrency`. Beyond these limits, the question is refused and the call fails.',
  )
  readonly parkedCalls: number = 100;

  @Integer(
    1000,
    3_600_000,
    'Time in milliseconds after which a parked call is cancelled at its server. The time is at most 30 seconds if the server ' +
      'runs one call at a time and other calls wait.',
  )
  readonly parkedMs: number = 120_000;

  @Integer(
    1,
    100_000,
    'Maximum number of child processes of one principal, for servers with `isolation: session`.',
  )
  readonly processesPerPrincipal: number = 32;

  @Integer(
    1,
    604_800_000,
    'Idle time in milliseconds after which a session expires. Links of clients without sessions to servers with ' +
      '`isolation: session` are closed after the same idle time.',
  )
  readonly sessionIdleMs: number = 1_800_000;

  @Integer(
    1,
    10_000,
    'Maximum number of entries per page of the MCP lists: tools, prompts, resources and templates. Some clients read only ' +
      'the first page. A page also ends when it has 4 MB.',
  )
  readonly pageSize: number = 1_000;

  @Integer(1, MAX_MESSAGE_BYTES, 'Maximum size in bytes of a request from a client.')
  readonly requestBytes: number = 4_194_304;

  @Integer(
    1,
    MAX_MESSAGE_BYTES,
    'Maximum size in bytes of any message from a server: response, request or notification.',
  )
  readonly responseBytes: number = 16_777_216;

  @Integer(
    1,
    100_000,
    'Maximum number of events that an event stream queues for a slow client. Beyond it, notifications are dropped.',
  )
  readonly streamQueue: number = 256;

  @Integer(
    100,
    3_600_000,
    'Time in milliseconds after which a client that does not read its stream is disconnected.',
  )
  readonly streamStuckMs: number = 30_000;

  @Integer(0, 100_000, 'Number of events that are kept per session for replay; 0 disables replay.')
  readonly replayEvents: number = 256;

  @Integer(1, 100_000, 'Maximum number of subscriptions of one session, or of one listen stream.')
  readonly subscriptionsPerClient: number = 100;

  @Integer(
    1,
    10_000_000,
    'Maximum number of subscriptions of all sessions and listen streams of one principal together.',
  )
  readonly subscriptionsPerPrincipal: number = 10_000;

  @Integer(1, 10_000_000, 'Maximum number of subscriptions of all clients together to one server.')
  readonly subscriptionsPerServer: number = 100_000;

  @Integer(1, 10_000_000, 'Maximum number of subscriptions of all clients together.')
  readonly subscriptions: number = 250_000;

  @Integer(1, 10_000, 'Maximum number of requests in flight of one session.')
  readonly inFlightPerSession: number = 100;

  @Integer(
    1,
    1_000_000,
    'Maximum number of requests in flight of one principal whose clients have no session (revision 2026-07-28).',
  )
  readonly requestsPerPrincipal: number = 2_000;

  @Integer(
    65_536,
    MAX_TOTAL_BYTES,
    'Maximum size in bytes of the responses that a client has not read yet, per session. Beyond it, further requests are ' +
      'refused until the client has read some.',
  )
  readonly unreadBytesPerSession: number = 67_108_864;

  @Integer(
    65_536,
    MAX_TOTAL_BYTES,
    'Maximum size in bytes of unread responses of all sessions of one principal, and of its requests without a session. ' +
      'Beyond it, requests of the principal are refused.',
  )
  readonly unreadBytesPerPrincipal: number = 268_435_456;
}
