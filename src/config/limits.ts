import { Whole } from './schema/keys.js';

const LONGEST_TEXT = 268_435_456;

/** How much is held for clients and taken from servers. No number means "unlimited". */
export class Limits {
  @Whole(1, 1_000_000, 'Sessions open at once; one more is refused.')
  readonly sessions: number = 10_000;

  @Whole(1, 604_800_000, 'Milliseconds after which a session nobody uses is closed.')
  readonly sessionIdleMs: number = 1_800_000;

  @Whole(1, 1_000, 'Entries on one page of a list.')
  readonly pageSize: number = 200;

  @Whole(1, LONGEST_TEXT, 'Bytes of one request from a client.')
  readonly requestBytes: number = 4_194_304;

  @Whole(1, LONGEST_TEXT, 'Bytes of one message from a server.')
  readonly responseBytes: number = 16_777_216;

  @Whole(1, 100_000, 'Messages that may wait for one slow reader.')
  readonly streamQueue: number = 256;

  @Whole(
    100,
    3_600_000,
    'Milliseconds after which a reader that takes nothing of its stream is disconnected.',
  )
  readonly streamStuckMs: number = 30_000;

  @Whole(0, 100_000, 'Events kept per session for a client that resumes its stream; 0 keeps none.')
  readonly replayEvents: number = 256;

  @Whole(1, 100_000, 'Subscriptions of one client: of one session, and of one principal where there is auth.')
  readonly subscriptionsPerClient: number = 100;

  @Whole(1, 10_000_000, 'Subscriptions of all clients to resources of one server.')
  readonly subscriptionsPerServer: number = 100_000;

  @Whole(1, 10_000_000, 'Subscriptions of all clients.')
  readonly subscriptions: number = 250_000;

  @Whole(1, 10_000, 'Requests of one session that may be in flight at once.')
  readonly inFlightPerSession: number = 100;
}
