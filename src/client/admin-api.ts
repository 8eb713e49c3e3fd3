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
import { GatewayProblem, unreachable, type GatewayProblemKind } from './gateway-problem.js';
import type { GatewayTarget } from './gateway-target.js';

const REQUEST_TIMEOUT_MS = 15_000;
/** Longer, because enable and reconnect respond only after the server is ready or has failed. */
const SERVER_ACTION_TIMEOUT_MS = 90_000;
const MAX_PAGE_SIZE = 1000;

export type ServerAction = 'enable' | 'disable' | 'reconnect';

interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** 0 disables the timeout. */
  readonly timeoutMs?: number;
  readonly accept?: string;
}

const ROW_MEMBERS: Readonly<Record<ListName, string>> = {
  tools: 'tools',
  prompts: 'prompts',
  resources: 'resources',
  'resource-templates': 'resourceTemplates',
  subscriptions: 'subscriptions',
  sessions: 'sessions',
};

/** A client of the admin API. Every failure is a GatewayProblem. */
export class AdminApi {
  constructor(readonly target: GatewayTarget) {}

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

  /** Resolves after the change has been applied to catalog and routing. */
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

  /** Fails if there is a server with this id. */
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
    const owner = session === undefined ? '' : `sessions/${encodeURIComponent(session)}/`;
    const path = `admin/v1/${owner}${list}${search === '' ? '' : `?${search}`}`;
    const { nextCursor, total, ...body } = await this.requestJson<Record<string, unknown>>(path, { signal });
    return {
      rows: body[ROW_MEMBERS[list]] as readonly AdminLists[L][],
      ...(typeof nextCursor === 'string' && { nextCursor }),
      ...(typeof total === 'number' && { total }),
    };
  }

  /** Reads all pages, up to `limit` rows. */
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

  /** Also resolves when the gateway is unhealthy (status 503). */
  async health(): Promise<Health> {
    const response = await this.fetchPath('health', {});
    const health = (await readJson(response, this.target.url)) as Partial<Health>;
    if (!health.details) throw problemOf(response, health, this.target);
    return health as Health;
  }

  /** The event feed as bytes, until the signal aborts it. */
  async events(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    // Limits the time until the response begins; the stream itself has no timeout.
    const openTimeout = new AbortController();
    const timer = setTimeout(
      () => openTimeout.abort(new DOMException('late', 'TimeoutError')),
      REQUEST_TIMEOUT_MS,
    );
    try {
      const response = await this.send('admin/v1/events', {
        accept: 'text/event-stream',
        signal: AbortSignal.any([signal, openTimeout.signal]),
        timeoutMs: 0,
      });
      if (!response.body) throw new GatewayProblem('refused', 'the gateway sends no events');
      return response.body as ReadableStream<Uint8Array>;
    } finally {
      clearTimeout(timer);
    }
  }

  private async requestJson<T>(path: string, options: RequestOptions = {}): Promise<T> {
    return (await readJson(await this.send(path, options), this.target.url)) as T;
  }

  private async send(path: string, options: RequestOptions): Promise<Response> {
    const response = await this.fetchPath(path, options);
    if (response.ok) return response;
    const body = await readJson(response, this.target.url).catch(() => ({}));
    throw problemOf(response, body, this.target);
  }

  private async fetchPath(path: string, options: RequestOptions): Promise<Response> {
    const {
      method = 'GET',
      signal,
      timeoutMs = REQUEST_TIMEOUT_MS,
      accept = 'application/json',
      body,
    } = options;
    const { url, token } = this.target;
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const signals = [...(signal ? [signal] : []), ...(timeoutMs > 0 ? [AbortSignal.timeout(timeoutMs)] : [])];
    try {
      return await fetch(`${url}/${path}`, {
        method,
        headers: {
          accept,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body && { 'content-type': contentType }),
          ...options.headers,
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.any(signals),
        // A redirect must not receive the token.
        redirect: 'error',
      });
    } catch (error) {
      // The caller has aborted the request.
      if (signal?.aborted && (signal.reason as Error | undefined)?.name !== 'TimeoutError') throw error;
      throw unreachable(url, error);
    }
  }
}

async function readJson(response: Response, url: string): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw unreachable(url, error);
  }
  try {
    return text === '' ? {} : (JSON.parse(text) as unknown);
  } catch (cause) {
    throw new GatewayProblem('refused', `${url} is not a Gatehouse gateway (status ${response.status})`, {
      cause,
    });
  }
}

const KINDS: Readonly<Record<number, GatewayProblemKind>> = {
  401: 'not-allowed',
  403: 'not-allowed',
  404: 'not-found',
};

function problemOf({ status }: Response, body: unknown, { token }: GatewayTarget): GatewayProblem {
  const { title, detail } = body as { title?: unknown; detail?: unknown };
  const text = [detail, title].find((part) => typeof part === 'string' && part !== '');
  const message = typeof text === 'string' ? text : `the gateway responded with status ${status}`;
  if (status !== 401) return new GatewayProblem(KINDS[status] ?? 'refused', message);
  const advice =
    token === undefined
      ? 'no admin token: give --token, set GATEHOUSE_ADMIN_TOKEN, or run the command on the machine of the gateway'
      : 'the gateway refused the admin token';
  return new GatewayProblem('not-allowed', advice);
}
