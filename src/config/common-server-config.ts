import type { NamingStyle } from '../core/naming/naming.js';
import { NAMING_STYLES } from './naming.js';
import { Choice, Flag, Section, TextList, Integer } from './schema/keys.js';

const ISOLATIONS = ['shared', 'exclusive', 'session'] as const;
type Isolation = (typeof ISOLATIONS)[number];

const SUBSCRIBE_MODES = ['announced', 'try', 'never'] as const;
/** When the gateway subscribes at a server: see `CommonServerConfig.subscribe`. */
export type SubscribeMode = (typeof SUBSCRIBE_MODES)[number];

/** Values of `CommonServerConfig.era`. */
const LINK_ERAS = ['auto', '2025', '2026'] as const;

class ServerTools {
  @TextList('Own names of tools that are neither listed nor callable.', { mayBeLogged: true })
  readonly disabled: readonly string[] = [];

  @TextList(
    'Own names of tools that run alone: no other call of the server is in flight during a call of such a tool.',
    { mayBeLogged: true },
  )
  readonly exclusive: readonly string[] = [];
}

class ServerNaming {
  @Choice(NAMING_STYLES, 'Overrides naming.tools for this server.')
  readonly tools?: NamingStyle;
}

class ServerWatch {
  @Integer(
    100,
    86_400_000,
    'Poll interval in milliseconds for subscribed resources of a server that does not support subscriptions or has no ' +
      'notification stream. Without it, resources of this server are not polled.',
  )
  readonly pollMs?: number;

  @Integer(
    0,
    60_000,
    'Throttle interval in milliseconds: the first update of a resource is delivered at once, and the later ones within the ' +
      'interval are coalesced into one.',
  )
  readonly coalesceMs: number = 0;
}

/** Keys of every server, independent of its transport. */
export abstract class CommonServerConfig {
  @Flag('Whether the server is connected and its tools, resources and prompts are listed.')
  readonly enabled: boolean = true;

  @Integer(
    1,
    1_000,
    'Maximum number of requests in flight at this server: calls, lists, subscriptions and polls, but not pings. ' +
      'With auth and a value of 4 or more, a sixteenth of the value (at least one request) is reserved for principals without ' +
      'a request in flight. The default is 16 for a stdio server and 64 for an HTTP server.',
  )
  readonly concurrency: number = 16;

  @Integer(
    0,
    100_000,
    'Maximum number of calls that wait while concurrency is reached. When the queue is full, the newest call of the principal ' +
      'with the most waiting calls is refused. 0 disables the queue. The default is 1000 for a stdio server and 2000 for an ' +
      'HTTP server.',
  )
  readonly queue: number = 1_000;

  @Choice(
    LINK_ERAS,
    'Protocol era of the connection to the server: revisions with sessions (2025), or revision 2026-07-28 (2026). auto chooses ' +
      '2026 if the server offers it, and chooses again when it reconnects.',
  )
  readonly era: (typeof LINK_ERAS)[number] = 'auto';

  @Choice(
    SUBSCRIBE_MODES,
    'Whether subscriptions of clients are sent to the server: if it announces resources.subscribe (announced); if it has ' +
      'resources, until it answers that it does not know the method (try); or not at all (never). Many servers accept ' +
      'subscriptions without announcing it, for example those of the Python SDK 1.x.',
  )
  readonly subscribe: SubscribeMode = 'announced';

  @Integer(
    1_000,
    86_400_000,
    'Interval in milliseconds at which a list is fetched again if the server does not announce its changes, because the ' +
      'server has no notification stream or does not declare listChanged for the list.',
  )
  readonly refreshMs: number = 60_000;

  @Integer(
    1,
    3_600_000,
    'Timeout of a call in milliseconds, from its arrival to its answer, the time in the queue included. Progress restarts it.',
  )
  readonly timeoutMs: number = 60_000;

  @Integer(
    100,
    3_600_000,
    'Timeout of a connection in milliseconds, from its start to the answer of the server to initialize. The default is long ' +
      'enough for package runners such as npx, which download packages at the first start.',
  )
  readonly connectTimeoutMs: number = 60_000;

  @Section(ServerTools, 'Disabled and exclusive tools of this server.')
  readonly tools: ServerTools = new ServerTools();

  @Choice(
    ISOLATIONS,
    'How clients share the server: one link with concurrent calls (shared); one link with one call at a time, so that ' +
      'every request that the server sends during a call belongs to that call (exclusive); or a link per session (session). ' +
      'With exclusive over stdio and SSE, such requests are refused for a second after a call of another principal. The link ' +
      'of a session has the capabilities of its client, its own lists, and the subscriptions of the session.',
  )
  readonly isolation: Isolation = 'shared';

  @Section(ServerWatch, 'Polling and throttling of resource updates.')
  readonly watch: ServerWatch = new ServerWatch();

  @Section(ServerNaming, 'Overrides of naming for this server.')
  readonly naming: ServerNaming = new ServerNaming();
}
