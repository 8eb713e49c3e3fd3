import { isJsonObject } from '../lib/json-text/json-value.js';
import { AdminRequests, type RequestOptions } from './admin-requests.js';
import type {
  ConfigStatus,
  DecisionList,
  Health,
  KeyItem,
  ListName,
  PatchedServer,
  SessionDetail,
  ProjectItem,
  AdminLists,
  PageQuery,
  RowPage,
  ServerDetail,
  ServerSummary,
  ServerTool,
  GatewaySummary,
} from './admin-types.js';
import type { GatewayTarget } from './gateway-target.js';

/**
 * Longer than the timeout of other requests, because the gateway may delay its response to a change of a server until the
 * server is ready or has failed.
 */
const SERVER_ACTION_TIMEOUT_MS = 90_000;
const MAX_PAGE_SIZE = 1000;

export type ServerAction = 'enable' | 'disable' | 'reconnect';

/** The member of a response that contains the rows, by list. */
const ROW_MEMBERS: Readonly<Record<ListName, string>> = {
  tools: 'tools',
  prompts: 'prompts',
  resources: 'resources',
  'resource-templates': 'resourceTemplates',
  subscriptions: 'subscriptions',
  sessions: 'sessions',
};

/** A client of the admin API. Its methods reject with a GatewayProblem. */
export class AdminApi {
  private readonly requests: AdminRequests;

  constructor(readonly target: GatewayTarget) {
    this.requests = new AdminRequests(target);
  }

  async servers(signal?: AbortSignal): Promise<readonly ServerSummary[]> {
    return (await this.requestJson<{ servers: ServerSummary[] }>('admin/v1/servers', { signal })).servers;
  }

  server(id: string, signal?: AbortSignal): Promise<ServerDetail> {
    return this.requestJson(`admin/v1/servers/${encodeURIComponent(id)}`, { signal });
  }

  async serverTools(id: string, signal?: AbortSignal): Promise<readonly ServerTool[]> {
    const path = `admin/v1/servers/${encodeURIComponent(id)}/tools`;
    return (await this.requestJson<{ tools: ServerTool[] }>(path, { signal })).tools;
  }

  /** Resolves when the gateway has applied the change to its lists and its routing. */
  controlServer(id: string, action: ServerAction): Promise<ServerDetail> {
    return this.requestJson(`admin/v1/servers/${encodeURIComponent(id)}/${action}`, {
      method: 'POST',
      timeoutMs: SERVER_ACTION_TIMEOUT_MS,
    });
  }

  /** `tool` is the server's own name of the tool. */
  switchTool(server: string, tool: string, action: 'enable' | 'disable'): Promise<ServerDetail> {
    const path = `admin/v1/servers/${encodeURIComponent(server)}/tools/${encodeURIComponent(tool)}/${action}`;
    return this.requestJson(path, { method: 'POST' });
  }

  async projects(signal?: AbortSignal): Promise<readonly ProjectItem[]> {
    return (await this.requestJson<{ projects: ProjectItem[] }>('admin/v1/projects', { signal })).projects;
  }

  summary(): Promise<GatewaySummary> {
    return this.requestJson('admin/v1/summary');
  }

  config(): Promise<ConfigStatus> {
    return this.requestJson('admin/v1/config');
  }

  /** Rejects if there is a server with this id already. */
  addServer(id: string, definition: object): Promise<ServerDetail> {
    return this.requestJson(`admin/v1/servers/${encodeURIComponent(id)}`, {
      method: 'PUT',
      body: definition,
      headers: { 'if-none-match': '*' },
      timeoutMs: SERVER_ACTION_TIMEOUT_MS,
    });
  }

  patchServer(id: string, patch: object): Promise<PatchedServer> {
    return this.requestJson(`admin/v1/servers/${encodeURIComponent(id)}`, {
      method: 'PATCH',
      body: patch,
      timeoutMs: SERVER_ACTION_TIMEOUT_MS,
    });
  }

  async removeServer(id: string): Promise<void> {
    await this.send(`admin/v1/servers/${encodeURIComponent(id)}`, { method: 'DELETE' });
  }

  putProject(id: string, body: object): Promise<ProjectItem> {
    return this.requestJson(`admin/v1/projects/${encodeURIComponent(id)}`, { method: 'PUT', body });
  }

  async removeProject(id: string): Promise<void> {
    await this.send(`admin/v1/projects/${encodeURIComponent(id)}`, { method: 'DELETE' });
  }

  session(id: string, signal?: AbortSignal): Promise<SessionDetail> {
    return this.requestJson(`admin/v1/sessions/${encodeURIComponent(id)}`, { signal });
  }

  async endSession(id: string): Promise<void> {
    await this.send(`admin/v1/sessions/${encodeURIComponent(id)}`, { method: 'DELETE' });
  }

  reloadConfig(): Promise<ConfigStatus> {
    return this.requestJson('admin/v1/config/reload', { method: 'POST' });
  }

  async keys(signal?: AbortSignal): Promise<readonly KeyItem[]> {
    return (await this.requestJson<{ keys: KeyItem[] }>('admin/v1/keys', { signal })).keys;
  }

  revokeKey(id: string): Promise<KeyItem> {
    return this.requestJson(`admin/v1/keys/${encodeURIComponent(id)}/revoke`, { method: 'POST' });
  }

  decisions(signal?: AbortSignal): Promise<DecisionList> {
    return this.requestJson('admin/v1/decisions', { signal });
  }

  async clearDecision(id: string): Promise<void> {
    await this.send(`admin/v1/decisions/${encodeURIComponent(id)}`, {
      method: 'DELETE',
      timeoutMs: SERVER_ACTION_TIMEOUT_MS,
    });
  }

  async endSubscription(id: string): Promise<void> {
    await this.send(`admin/v1/subscriptions/${encodeURIComponent(id)}`, { method: 'DELETE' });
  }

  /** Reads one page of a list. */
  async page<L extends ListName>(
    list: L,
    query: PageQuery,
    signal?: AbortSignal,
  ): Promise<RowPage<AdminLists[L]>> {
    const { session, ...filters } = query;
    const parameters = Object.entries(filters).filter(([, value]) => value !== undefined && value !== '');
    const search = parameters
      .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
      .join('&');
    const sessionPath = session === undefined ? '' : `sessions/${encodeURIComponent(session)}/`;
    const path = `admin/v1/${sessionPath}${list}${search === '' ? '' : `?${search}`}`;
    const { nextCursor, total, ...body } = await this.requestJson<Record<string, unknown>>(path, { signal });
    return {
      rows: body[ROW_MEMBERS[list]] as readonly AdminLists[L][],
      ...(typeof nextCursor === 'string' && { nextCursor }),
      ...(typeof total === 'number' && { total }),
    };
  }

  /** Reads page after page, until the list ends or there are `limit` rows. */
  async rows<L extends ListName>(
    list: L,
    query: PageQuery,
    limit = Infinity,
    signal?: AbortSignal,
  ): Promise<{ rows: AdminLists[L][]; hasMore: boolean }> {
    const rows: AdminLists[L][] = [];
    let cursor: string | undefined;
    do {
      const pageSize = Math.min(limit - rows.length, MAX_PAGE_SIZE);
      const page = await this.page(list, { ...query, cursor, limit: pageSize }, signal);
      rows.push(...page.rows);
      cursor = page.nextCursor;
    } while (cursor !== undefined && rows.length < limit);
    return { rows, hasMore: cursor !== undefined };
  }

  /** Resolves also when the gateway is unhealthy (status 503). */
  health(): Promise<Health> {
    return this.requests.jsonOfAnyStatus('health', isHealth);
  }

  /** The event feed as bytes. The signal ends only the wait for the response; the caller must cancel the stream itself. */
  events(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    return this.requests.stream('admin/v1/events', { headers: { accept: 'text/event-stream' }, signal });
  }

  private async requestJson<T>(path: string, options: RequestOptions = {}): Promise<T> {
    return (await this.requests.json(path, options)) as T;
  }

  private send(path: string, options: RequestOptions): Promise<void> {
    return this.requests.send(path, options);
  }
}

const isHealth = (body: unknown): body is Health => isJsonObject(body) && isJsonObject(body['details']);
