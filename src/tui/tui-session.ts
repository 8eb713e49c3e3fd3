import type { AdminApi } from '../client/admin-api.js';
import { FeedReader } from '../client/feed-reader.js';
import { printable } from '../client/printable.js';
import { listRow, type ListId } from './model/list-row.js';
import type { TuiEvent } from './model/tui-event.js';
import { listsAffectedBy } from './model/feed-events.js';
import { newModel, UNKNOWN_TOTAL, type TuiAction, type Model } from './model/model.js';
import { requestsFor, type TuiRequest } from './model/tui-request.js';
import { update } from './model/update.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';

/** Lists that change within this time are loaded again together, because one change of a server can cause many events. */
const RELOAD_DELAY_MS = 150;
const TICK_INTERVAL_MS = 1000;

interface TuiOptions {
  readonly api: AdminApi;
  /** The project to which the view is limited. */
  readonly project?: string | undefined;
  /** Reads a resource through the MCP endpoint and returns its lines. */
  readonly preview: (uri: string, signal: AbortSignal) => Promise<readonly string[]>;
  readonly size: Model['size'];
}

/**
 * Keeps the model up to date. After each event, starts the requests that the model needs, and aborts the ones that it no
 * longer needs.
 */
export class TuiSession {
  model: Model;
  private readonly listeners = new ListenerSet();
  /** The running requests, by key. */
  private readonly running = new Map<string, AbortController>();
  private readonly feed: FeedReader;
  private readonly changedLists = new Set<ListId>();
  private reloadTimer: NodeJS.Timeout | undefined;
  private tickTimer: NodeJS.Timeout | undefined;

  constructor(private readonly options: TuiOptions) {
    const address = options.api.target.url.replace(/^https?:\/\//, '');
    const gateway = options.project === undefined ? address : `${address} project ${options.project}`;
    this.model = newModel(gateway, options.size, Date.now());
    this.feed = new FeedReader(options.api, {
      opened: () => this.dispatch({ type: 'connected' }),
      lost: (problem, waitMs) => this.dispatch({ type: 'lost', problem, retryAt: Date.now() + waitMs }),
      event: (kind, data) => this.onFeedEvent(kind, data),
    });
  }

  start(): void {
    void this.feed.run();
    this.tickTimer = setInterval(() => this.dispatch({ type: 'tick', now: Date.now() }), TICK_INTERVAL_MS);
  }

  stop(): void {
    this.feed.stop();
    clearInterval(this.tickTimer);
    clearTimeout(this.reloadTimer);
    for (const controller of this.running.values()) controller.abort();
  }

  /** Calls the listener after every change of the model. React uses it and `snapshot` in `useSyncExternalStore`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    return this.listeners.add(listener);
  };

  readonly snapshot = (): Model => this.model;

  dispatch(event: TuiEvent): void {
    const before = this.model;
    this.model = update(before, event);
    if (this.model === before) return;
    if (event.type === 'key' && event.key === 'R') this.feed.retryNow();
    this.syncRequests();
    this.listeners.emit();
  }

  /**
   * Applies an event of the feed. The lists that the event has changed are loaded again after a short delay, together with
   * the lists of later events.
   */
  private onFeedEvent(kind: string, data: Readonly<Record<string, unknown>>): void {
    if (kind === 'server' && this.isOutsideProject(data['id'])) return;
    for (const list of listsAffectedBy(kind, data, this.model)) this.changedLists.add(list);
    this.dispatch({ type: 'feed', kind, data });
    if (this.changedLists.size === 0) return;
    this.reloadTimer ??= setTimeout(() => {
      this.reloadTimer = undefined;
      const lists = [...this.changedLists];
      this.changedLists.clear();
      this.dispatch({ type: 'lists-changed', lists });
    }, RELOAD_DELAY_MS);
  }

  /**
   * Whether the server is outside the project to which the view is limited. The feed has events of all servers, but the
   * model has only servers of the project. A server that is added to the project is loaded after a `project` event.
   */
  private isOutsideProject(server: unknown): boolean {
    return this.options.project !== undefined && !this.model.servers.some(({ id }) => id === server);
  }

  private syncRequests(): void {
    const needed = new Map(requestsFor(this.model).map((request) => [request.key, request]));
    for (const [key, controller] of this.running) {
      // The user has confirmed an action, so it is never aborted.
      const isAction = key.startsWith('action ');
      if (needed.has(key) || isAction) continue;
      this.running.delete(key);
      controller.abort();
    }
    for (const request of needed.values()) if (!this.running.has(request.key)) void this.run(request);
  }

  private async run(request: TuiRequest): Promise<void> {
    const controller = new AbortController();
    this.running.set(request.key, controller);
    let outcome: TuiEvent | undefined;
    try {
      outcome = await this.perform(request, controller.signal);
    } catch (error) {
      if (!controller.signal.aborted) outcome = { type: 'failed', request, problem: problemOf(error) };
    }
    if (this.running.get(request.key) === controller) this.running.delete(request.key);
    if (outcome && !controller.signal.aborted) this.dispatch(outcome);
  }

  private async perform(request: TuiRequest, signal: AbortSignal): Promise<TuiEvent> {
    const { api } = this.options;
    switch (request.kind) {
      case 'servers':
        return { type: 'servers', servers: await api.servers(signal), version: request.version };
      case 'page':
        return this.loadPage(request, signal);
      case 'disabled-tools':
        return {
          type: 'disabled-tools',
          request,
          tools: await this.loadDisabledTools(request.servers, signal),
        };
      case 'server':
        return { type: 'server', detail: await api.server(request.id, signal), version: request.version };
      case 'session':
        return { type: 'session', session: await api.session(request.id, signal) };
      case 'total': {
        const { total = UNKNOWN_TOTAL } = await api.page(request.list, { limit: 1 }, signal);
        return { type: 'total', list: request.list, total, version: request.version };
      }
      case 'preview':
        return { type: 'preview', uri: request.uri, lines: await this.options.preview(request.uri, signal) };
      // `action`
      default:
        return { type: 'done', action: request.action, text: await this.runAction(request.action) };
    }
  }

  private async loadPage(
    request: Extract<TuiRequest, { kind: 'page' }>,
    signal: AbortSignal,
  ): Promise<TuiEvent> {
    const { list, position, query, server, limit } = request;
    const pageQuery = { q: query.trim(), server, cursor: position.cursor, limit };
    const { rows, nextCursor, total } = await this.options.api.page(list, pageQuery, signal);
    return {
      type: 'page',
      request,
      page: { rows: rows.map((row) => listRow(list, row)), nextCursor, total },
    };
  }

  private async loadDisabledTools(servers: readonly string[], signal: AbortSignal) {
    const lists = await Promise.all(
      servers.map(async (server) => {
        const tools = await this.options.api.serverTools(server, signal);
        return tools.filter(({ enabled }) => !enabled).map((tool) => ({ ...tool, server }));
      }),
    );
    return lists.flat();
  }

  private async runAction(action: TuiAction): Promise<string> {
    const { api } = this.options;
    if (action.kind === 'end-subscription') {
      await api.endSubscription(action.id);
      return `ended the subscription to ${printable(action.uri)}`;
    }
    if (action.kind === 'end-session') {
      await api.endSession(action.id);
      return `ended the session of ${printable(action.client)}`;
    }
    if (action.kind === 'tool') {
      await api.switchTool(action.server, action.tool, action.verb);
      return `${printable(action.tool)} is ${action.verb}d`;
    }
    const { state, reason } = await api.controlServer(action.server, action.verb);
    const why = state === 'ready' || reason === undefined ? '' : `: ${printable(reason)}`;
    return `${printable(action.server)} is ${state}${why}`;
  }
}

const problemOf = (error: unknown): string =>
  printable(error instanceof Error ? error.message : String(error));
