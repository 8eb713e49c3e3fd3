import { ERROR_CODES, type RemoteError } from '../../core/errors.js';
import { JsonText } from '../../lib/json-text/json-text.js';
import type { Link, LinkRequest } from '../link/link.js';
import { capabilityOf, KINDS, KINDS_BY_REQUEST_METHOD, type Kind } from './list-kinds.js';

/**
 * Minimum time between two fetches because of errors of the server. Most such errors are about wrong arguments, and the lists
 * have not changed.
 */
const MIN_ERROR_FETCH_INTERVAL_MS = 10_000;
/** The share by which the refresh interval varies at random, so that servers are not all listed at the same time. */
const JITTER = 0.1;

/** Errors that may mean that the server does not have the requested tool, prompt or resource. */
const UNKNOWN_NAME_CODES: ReadonlySet<number> = new Set([
  ERROR_CODES['method-not-found'].code,
  ERROR_CODES['invalid-params'].code,
  ERROR_CODES['resource-not-found'].code,
]);

interface RefreshOptions {
  /** The interval at which lists are fetched again if the server does not announce their changes. */
  refreshMs(): number;
  /**
   * Whether the server lists a resource with this own URI. Clients also read resources that are not listed, because they get
   * URIs from templates and links too. A fetch after an error for such a resource would be useless.
   */
  listsResource(uri: unknown): boolean;
  /** Schedules a fetch of these lists. */
  fetch(kinds: readonly Kind[]): void;
}

/** Schedules fetches of the lists of one server that may have changed without a list change notification. */
export class ListRefresh {
  private link: Link | undefined;
  private timer: NodeJS.Timeout | undefined;
  private lastErrorFetchAt = -Infinity;

  constructor(private readonly options: RefreshOptions) {}

  /** To be called with each new link, and with undefined when the link is lost. */
  attach(link: Link | undefined): void {
    this.link = link;
    clearTimeout(this.timer);
    if (link) this.schedule(link);
  }

  /**
   * To be called when the server answered a client's request with an error. The list with the requested name is fetched again if
   * the error may mean that the server no longer has it, and the server does not announce changes of that list.
   */
  handleErrorAnswer({ method, params }: LinkRequest, { code }: RemoteError): void {
    const kinds = UNKNOWN_NAME_CODES.has(code) ? KINDS_BY_REQUEST_METHOD.get(method) : undefined;
    if (!kinds) return;
    const now = performance.now();
    if (now - this.lastErrorFetchAt < MIN_ERROR_FETCH_INTERVAL_MS) return;
    // The kinds of one method have the same capability.
    if (this.announcesChanges(kinds[0]!)) return;
    if (method === 'resources/read' && !this.options.listsResource(uriIn(params))) return;
    this.lastErrorFetchAt = now;
    this.options.fetch(kinds);
  }

  private schedule(link: Link): void {
    // Between 1 - JITTER and 1 + JITTER.
    const randomFactor = 1 - JITTER + 2 * JITTER * Math.random();
    const delayMs = this.options.refreshMs() * randomFactor;
    this.timer = setTimeout(() => {
      const { capabilities } = link.facts;
      const kinds = KINDS.filter((kind) => capabilities[capabilityOf(kind)] && !this.announcesChanges(kind));
      if (kinds.length > 0) this.options.fetch(kinds);
      this.schedule(link);
    }, delayMs).unref();
  }

  /** Whether the server sends a list change for this kind, and the gateway can receive it now. */
  private announcesChanges(kind: Kind): boolean {
    const { facts, notificationStream } = this.link ?? {};
    return notificationStream === 'open' && facts?.capabilities[capabilityOf(kind)]?.listChanged === true;
  }
}

/** The `uri` in the params of `resources/read`. If the params are long, `JsonText` parses only this member. */
const uriIn = (params = '{}'): unknown => (new JsonText(params).value as { uri?: unknown }).uri;
