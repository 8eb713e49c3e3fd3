import type {
  ListName,
  NamedItem,
  ResourceItem,
  ServerSummary,
  SessionItem,
  SubscriptionItem,
  TemplateItem,
} from '../../src/client/admin-types.js';
import { listRow, type ListRow } from '../../src/tui/model/list-row.js';
import type { TuiEvent } from '../../src/tui/model/tui-event.js';
import { newModel, type Model } from '../../src/tui/model/model.js';
import type { LoadedPage } from '../../src/tui/model/paged-list.js';
import { requestsFor, type TuiRequest } from '../../src/tui/model/tui-request.js';
import { update } from '../../src/tui/model/update.js';

/** The current time in all tests of the terminal UI. */
export const NOW = Date.parse('2026-03-01T12:00:00Z');

export const server = (id: string, more: Partial<ServerSummary> = {}): ServerSummary => ({
  id,
  enabled: true,
  state: 'ready',
  since: '2026-03-01T10:30:00Z',
  transport: 'stdio',
  origin: 'config',
  attempts: 0,
  restarts: 0,
  calls: 0,
  inFlight: 0,
  waiting: 0,
  counts: { tools: 2, disabledTools: 0, prompts: 1, resources: 3, templates: 1 },
  ...more,
});

export const resource = (name: string, more: Partial<ResourceItem> = {}): ResourceItem => ({
  uri: `resource://files/file:///${name}`,
  server: 'files',
  ownUri: `file:///${name}`,
  original: `file:///${name}`,
  id: `files_file___${name}`,
  subscribers: 0,
  definition: { uri: `resource://files/file:///${name}`, name, mimeType: 'text/plain', size: 1234 },
  ...more,
});

export const template = (pattern: string, description: string): TemplateItem => ({
  uriTemplate: `resource://files/${pattern}`,
  server: 'files',
  ownUri: pattern,
  original: pattern,
  id: 'files_template',
  definition: { name: pattern, description },
});

export const tool = (ownName: string, description = ''): NamedItem => ({
  name: `files__${ownName}`,
  server: 'files',
  ownName,
  own: ownName,
  definition: { name: `files__${ownName}`, description, inputSchema: { type: 'object' } },
});

export const clientSession = (id: string, more: Partial<SessionItem> = {}): SessionItem => ({
  id,
  kind: 'session',
  client: { name: 'cursor', version: '2.1' },
  principal: 'ci',
  scope: [{ project: 'logs', servers: ['files', 'other'] }],
  protocolVersion: '2025-11-25',
  era: '2025',
  opened: '2026-03-01T11:00:00Z',
  lastSeen: '2026-03-01T11:58:00Z',
  calls: 12,
  inFlight: 0,
  streams: 1,
  hasStream: true,
  subscriptions: 2,
  unfinishedLists: [],
  ...more,
});

export const subscription = (id: string, more: Partial<SubscriptionItem> = {}): SubscriptionItem => ({
  id,
  client: '0123456789abcdef',
  clientName: 'cursor',
  server: 'files',
  uri: `resource://files/file:///${id}`,
  ownUri: `file:///${id}`,
  original: `file:///${id}`,
  since: '2026-03-01T11:59:00Z',
  hasStream: true,
  ...more,
});

/** The contents of the gateway; lists default to empty. */
export interface TuiGatewayContents {
  readonly servers?: readonly ServerSummary[];
  readonly resources?: readonly ResourceItem[];
  readonly templates?: readonly TemplateItem[];
  readonly tools?: readonly NamedItem[];
  readonly prompts?: readonly NamedItem[];
  readonly subscriptions?: readonly SubscriptionItem[];
  readonly sessions?: readonly SessionItem[];
}

/** The model of a connected terminal UI without terminal and gateway; requests are answered synchronously. */
export class TuiModelHarness {
  model: Model;
  /** All requests so far. */
  readonly requests: TuiRequest[] = [];
  private readonly sorted = new Map<TuiGatewayContents, Record<ListName, readonly ListRow[]>>();

  constructor(
    public gateway: TuiGatewayContents,
    size: { columns: number; rows: number } = { columns: 80, rows: 24 },
  ) {
    this.model = newModel('127.0.0.1:3000', size, NOW);
    this.dispatch({ type: 'connected' });
  }

  dispatch(event: TuiEvent): this {
    this.model = update(this.model, event);
    for (let rounds = 0; rounds < 500; rounds++) {
      const [request] = requestsFor(this.model);
      if (!request) return this;
      this.requests.push(request);
      this.model = update(this.model, this.respond(request));
    }
    throw new Error(`the model never stops requesting ${requestsFor(this.model)[0]?.key}`);
  }

  press(...keys: readonly string[]): this {
    for (const key of keys) this.dispatch({ type: 'key', key });
    return this;
  }

  private respond(request: TuiRequest): TuiEvent {
    const { servers = [] } = this.gateway;
    switch (request.kind) {
      case 'servers':
        return { type: 'servers', servers, version: request.version };
      case 'page':
        return { type: 'page', request, page: this.page(request) };
      case 'disabled-tools':
        return {
          type: 'disabled-tools',
          request,
          tools: request.servers.map((id) => ({
            ownName: 'off',
            own: 'off',
            enabled: false,
            origin: 'admin',
            server: id,
            definition: { name: 'off', inputSchema: { properties: { path: { type: 'string' } } } },
          })),
        };
      case 'server': {
        const found = servers.find(({ id }) => id === request.id)!;
        return {
          type: 'server',
          version: request.version,
          detail: { ...found, definition: { command: 'node' }, stderr: ['a line on stderr'], tools: [] },
        };
      }
      case 'session':
        return { type: 'session', session: clientSession(request.id) };
      case 'total':
        return {
          type: 'total',
          list: request.list,
          total: this.rows(request.list).length,
          version: request.version,
        };
      case 'preview':
        return { type: 'preview', uri: request.uri, lines: ['the contents'] };
      default:
        return { type: 'done', action: request.action, text: 'done' };
    }
  }

  private page({
    list,
    position,
    limit,
    query,
    server: only,
  }: Extract<TuiRequest, { kind: 'page' }>): LoadedPage {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.rows(list)
      .filter(({ item }) => only === undefined || ('server' in item && item.server === only))
      .filter(({ item }) => words.every((word) => JSON.stringify(item).toLowerCase().includes(word)));
    const start = position.cursor === undefined ? 0 : found.findIndex(({ key }) => key > position.cursor!);
    const rows = start === -1 ? [] : found.slice(start, start + limit);
    const isLast = start === -1 || start + limit >= found.length;
    return { rows, total: found.length, ...(isLast ? {} : { nextCursor: rows.at(-1)!.key }) };
  }

  private rows(list: ListName): readonly ListRow[] {
    const held = this.sorted.get(this.gateway)?.[list];
    if (held) return held;
    const { resources = [], templates = [], tools = [], prompts = [] } = this.gateway;
    const { subscriptions = [], sessions = [] } = this.gateway;
    const entries: Record<ListName, readonly ListRow[]> = {
      resources: resources.map((item) => listRow('resources', item)),
      'resource-templates': templates.map((item) => listRow('resource-templates', item)),
      tools: tools.map((item) => listRow('tools', item)),
      prompts: prompts.map((item) => listRow('prompts', item)),
      subscriptions: subscriptions.map((item) => listRow('subscriptions', item)),
      sessions: sessions.map((item) => listRow('sessions', item)),
    };
    for (const rows of Object.values(entries)) (rows as ListRow[]).sort((a, b) => (a.key < b.key ? -1 : 1));
    this.sorted.set(this.gateway, entries);
    return entries[list];
  }
}
