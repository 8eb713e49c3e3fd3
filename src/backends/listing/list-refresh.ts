import { ERROR_CODES, type RemoteError } from '../../core/errors.js';
import { JsonText } from '../../lib/json-text/json-text.js';
import type { Link, LinkRequest } from '../link/link.js';
import { capabilityOf, KINDS, NAMED_KINDS, type Kind } from './list-kinds.js';

/** Minimum time between two refreshes because of errors of the server. Most such errors are about arguments. */
const MIN_REFUSAL_INTERVAL_MS = 10_000;
/** The random part of the interval, so that servers are not all listed at the same time. */
const JITTER = 0.1;

const UNKNOWN_NAME_CODES: ReadonlySet<number> = new Set([
  ERROR_CODES['method-not-found'].code,
  ERROR_CODES['invalid-params'].code,
  ERROR_CODES['resource-not-found'].code,
]);

interface RefreshOptions {
  /** The interval at which lists are fetched again whose changes the server does not announce. */
  refreshMs(): number;
  /** Whether the server lists a resource with this own URI. Clients also read URIs of templates and links. */
  listsResource(uri: unknown): boolean;
  fetch(kinds: readonly Kind[]): void;
}

/** Has the lists of one server fetched again when they may have changed without a notification. */
export class ListRefresh {
  private link: Link | undefined;
  private timer: NodeJS.Timeout | undefined;
  private lastRefusalAt = -Infinity;

  constructor(private readonly options: RefreshOptions) {}

  /** To be called with a new link, and without one when the link is lost. */
  attach(link: Link | undefined): void {
    this.link = link;
    clearTimeout(this.timer);
    if (link) this.schedule(link);
  }

  /**
   * To be called when the server answered a client's request with an error. If the error may mean that the server no longer
   * has what it listed, and the server cannot send a list change, that list is fetched again.
   */
  handleRefusal({ method, params }: LinkRequest, { code }: RemoteError): void {
    const kinds = UNKNOWN_NAME_CODES.has(code) ? NAMED_KINDS.get(method) : undefined;
    const now = performance.now();
    if (!kinds || now - this.lastRefusalAt < MIN_REFUSAL_INTERVAL_MS || this.announcesChanges(kinds[0]!))
      return;
    if (method === 'resources/read' && !this.options.listsResource(uriIn(params))) return;
    this.lastRefusalAt = now;
    this.options.fetch(kinds);
  }

  private schedule(link: Link): void {
    const delayMs = this.options.refreshMs() * (1 - JITTER + 2 * JITTER * Math.random());
    this.timer = setTimeout(() => {
      const { capabilities } = link.facts;
      const kinds = KINDS.filter((kind) => capabilities[capabilityOf(kind)] && !this.announcesChanges(kind));
      if (kinds.length > 0) this.options.fetch(kinds);
      this.schedule(link);
    }, delayMs).unref();
  }

  private announcesChanges(kind: Kind): boolean {
    const { facts, notificationStream } = this.link ?? {};
    return notificationStream === 'open' && facts?.capabilities[capabilityOf(kind)]?.listChanged === true;
  }
}

/** The rest of the params is not parsed if they are long. */
const uriIn = (params = '{}'): unknown => (new JsonText(params).value as { uri?: unknown }).uri;
