import type {
  AdminLists,
  ConfigStatus,
  Health,
  ListName,
  ProjectItem,
  PageQuery,
  RowPage,
  ServerDetail,
  ServerSummary,
  ServerTool,
  SessionItem,
} from './admin-types.js';
import { GatewayProblem, unreachable, type GatewayProblemKind } from './gateway-problem.js';
import type { GatewayTarget } from './gateway-target.js';

const PATIENCE_MS = 15_000;
/** Enabling or reconnecting a server waits until it is up or fails. */
const PATIENCE_WITH_SERVERS_MS = 90_000;
const LARGEST_PAGE = 1000;

export type ServerAction = 'enable' | 'disable' | 'reconnect';

interface Asking {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly signal?: AbortSignal | undefined;
  readonly patienceMs?: number;
  readonly accept?: string;
}

const MEMBERS: Readonly<Record<ListName, string>> = {
  tools: 'tools',
  prompts: 'prompts',
  resources: 'resources',
  'resource-templates': 'resourceTemplates',
  subscriptions: 'subscriptions',
};

/** The admin API of one gateway. Whatever fails is a GatewayProblem in words for people. */
export class AdminApi {
  constructor(readonly target: GatewayTarget) {}

  async servers(signal?: AbortSignal): Promise<readonly ServerSummary[]> {
    return (await this.json<{ servers: ServerSummary[] }>('admin/v1/servers', { signal })).servers;
  }

  server(id: string, signal?: AbortSignal): Promise<ServerDetail> {
    return this.json(`admin/v1/servers/${encodeURIComponent(id)}`, { signal });
  }

  async serverTools(id: string, signal?: AbortSignal): Promise<readonly ServerTool[]> {
    const path = `admin/v1/servers/${encodeURIComponent(id)}/tools`;
    return (await this.json<{ tools: ServerTool[] }>(path, { signal })).tools;
  }

  /** Resolves when lists and routing have followed. */
  controlServer(id: string, action: ServerAction): Promise<ServerDetail> {
    return this.json(`admin/v1/servers/${encodeURIComponent(id)}/${action}`, {
      method: 'POST',
      patienceMs: PATIENCE_WITH_SERVERS_MS,
    });
  }

  /** `tool` is the server's own name for it. */
  switchTool(server: string, tool: string, action: 'enable' | 'disable'): Promise<ServerDetail> {
    const path = `admin/v1/servers/${encodeURIComponent(server)}/tools/${encodeURIComponent(tool)}/${action}`;
    return this.json(path, { method: 'POST' });
  }

  async projects(signal?: AbortSignal): Promise<readonly ProjectItem[]> {
    return (await this.json<{ projects: ProjectItem[] }>('admin/v1/projects', { signal })).projects;
  }

  async sessions(signal?: AbortSignal): Promise<readonly SessionItem[]> {
    return (await this.json<{ sessions: SessionItem[] }>('admin/v1/sessions', { signal })).sessions;
  }

  config(): Promise<ConfigStatus> {
    return this.json('admin/v1/config');
  }

  async endSubscription(id: string): Promise<void> {
    await this.ask(`admin/v1/subscriptions/${encodeURIComponent(id)}`, { method: 'DELETE' });
  }

  async page<L extends ListName>(
    list: L,
    query: PageQuery,
    signal?: AbortSignal,
  ): Promise<RowPage<AdminLists[L]>> {
    const asked = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
    const search = asked.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&');
    const path = `admin/v1/${list}${search === '' ? '' : `?${search}`}`;
    const { nextCursor, total, ...answer } = await this.json<Record<string, unknown>>(path, { signal });
    return {
      rows: answer[MEMBERS[list]] as readonly AdminLists[L][],
      ...(typeof nextCursor === 'string' && { nextCursor }),
      ...(typeof total === 'number' && { total }),
    };
  }

  /** Every row, page by page; at most `limit` of them, and whether there are more. */
  async rows<L extends ListName>(
    list: L,
    query: PageQuery,
    limit = Infinity,
  ): Promise<{ rows: AdminLists[L][]; hasMore: boolean }> {
    const rows: AdminLists[L][] = [];
    let cursor: string | undefined;
    do {
      const wanted = Math.min(limit - rows.length, LARGEST_PAGE);
      const page = await this.page(list, { ...query, cursor, limit: wanted });
      rows.push(...page.rows);
      cursor = page.nextCursor;
    } while (cursor !== undefined && rows.length < limit);
    return { rows, hasMore: cursor !== undefined };
  }

  /** Of the whole gateway; it is also told when it is bad. */
  async health(): Promise<Health> {
    const response = await this.fetch('health', {});
    const health = (await bodyOf(response, this.target.url)) as Partial<Health>;
    if (!health.details) throw problemOf(response, health, this.target);
    return health as Health;
  }

  /** The stream of changes, as bytes. It ends when the signal says so. */
  async events(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const opening = new AbortController();
    const timer = setTimeout(() => opening.abort(new DOMException('late', 'TimeoutError')), PATIENCE_MS);
    try {
      const response = await this.ask('admin/v1/events', {
        accept: 'text/event-stream',
        signal: AbortSignal.any([signal, opening.signal]),
        patienceMs: 0,
      });
      if (!response.body) throw new GatewayProblem('refused', 'the gateway sends no events');
      return response.body as ReadableStream<Uint8Array>;
    } finally {
      clearTimeout(timer);
    }
  }

  private async json<T>(path: string, asking: Asking = {}): Promise<T> {
    return (await bodyOf(await this.ask(path, asking), this.target.url)) as T;
  }

  private async ask(path: string, asking: Asking): Promise<Response> {
    const response = await this.fetch(path, asking);
    if (response.ok) return response;
    const body = await bodyOf(response, this.target.url).catch(() => ({}));
    throw problemOf(response, body, this.target);
  }

  private async fetch(path: string, asking: Asking): Promise<Response> {
    const { method = 'GET', signal, patienceMs = PATIENCE_MS, accept = 'application/json' } = asking;
    const { url, token } = this.target;
    const signals = [
      ...(signal ? [signal] : []),
      ...(patienceMs > 0 ? [AbortSignal.timeout(patienceMs)] : []),
    ];
    try {
      return await fetch(`${url}/${path}`, {
        method,
        headers: { accept, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
        signal: AbortSignal.any(signals),
        // The token is for this gateway and nobody it may point to.
        redirect: 'error',
      });
    } catch (error) {
      if (signal?.aborted && (signal.reason as Error | undefined)?.name !== 'TimeoutError') throw error;
      throw unreachable(url, error);
    }
  }
}

async function bodyOf(response: Response, url: string): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw unreachable(url, error);
  }
  try {
    return text === '' ? {} : (JSON.parse(text) as unknown);
  } catch (cause) {
    throw new GatewayProblem(
      'refused',
      `what answers at ${url} is no Gatehouse (status ${response.status})`,
      {
        cause,
      },
    );
  }
}

const KINDS: Readonly<Record<number, GatewayProblemKind>> = {
  401: 'not-allowed',
  403: 'not-allowed',
  404: 'not-found',
};

function problemOf({ status }: Response, body: unknown, { token }: GatewayTarget): GatewayProblem {
  const { title, detail } = body as { title?: unknown; detail?: unknown };
  // The title only repeats what the detail says better.
  const said = [detail, title].find((part) => typeof part === 'string' && part !== '');
  const what = typeof said === 'string' ? said : `the gateway answers with status ${status}`;
  if (status !== 401) return new GatewayProblem(KINDS[status] ?? 'refused', what);
  const advice =
    token === undefined
      ? 'no admin token is known: give --token, set GATEHOUSE_ADMIN_TOKEN, or run this where the gateway runs'
      : 'the gateway does not know this admin token';
  return new GatewayProblem('not-allowed', advice);
}
