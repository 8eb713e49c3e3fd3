import type { AdminApi } from '../../src/client/admin-api.js';
import { GatewayProblem } from '../../src/client/gateway-problem.js';
import { clientSession, server, type TuiGatewayContents } from './tui-model.js';

/** The part of the admin API that the terminal UI uses, with the contents that the test sets. Records all requests. */
export class FakeAdminApi {
  readonly target = { url: 'http://127.0.0.1:3000' };
  readonly requests: string[] = [];
  /** If set, all requests fail with this message. */
  problem: string | undefined;
  private feeds: ReadableStreamDefaultController<Uint8Array>[] = [];

  constructor(public gateway: TuiGatewayContents) {}

  /** As the type of the real class, whose other methods the terminal UI does not call. */
  get api(): AdminApi {
    return this as unknown as AdminApi;
  }

  /** Sends an event to all open feeds. */
  emit(kind: string, data: object): void {
    const text = `event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
    for (const feed of this.feeds) feed.enqueue(Buffer.from(text));
  }

  breakFeeds(): void {
    for (const feed of this.feeds.splice(0)) feed.close();
  }

  events(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    if (this.problem !== undefined) return Promise.reject(new GatewayProblem('unreachable', this.problem));
    const start = (feed: ReadableStreamDefaultController<Uint8Array>): void => {
      this.feeds.push(feed);
      signal.addEventListener('abort', () => {
        this.feeds = this.feeds.filter((other) => other !== feed);
        feed.error(signal.reason);
      });
    };
    return Promise.resolve(new ReadableStream<Uint8Array>({ start }));
  }

  servers() {
    return this.answer('servers', this.gateway.servers ?? []);
  }

  server(id: string) {
    const detail = {
      ...server(id),
      definition: { command: 'node' },
      stderr: ['a line on stderr'],
      tools: [],
    };
    return this.answer(`server ${id}`, detail);
  }

  serverTools(id: string) {
    return this.answer(`tools of ${id}`, [{ ownName: 'off', enabled: false }]);
  }

  session(id: string) {
    return this.answer(`session ${id}`, clientSession(id));
  }

  endSession(id: string) {
    return this.answer(`end session ${id}`, undefined);
  }

  controlServer(id: string, action: string) {
    return this.answer(`${action} ${id}`, server(id, { enabled: false, state: 'disabled' }));
  }

  switchTool(id: string, tool: string, action: string) {
    return this.answer(`${action} ${tool} of ${id}`, server(id));
  }

  endSubscription(id: string) {
    return this.answer(`end ${id}`, undefined);
  }

  page(list: string, { q = '' }: { q?: string }) {
    const { resources = [], templates = [], tools = [], prompts = [] } = this.gateway;
    const { subscriptions = [], sessions = [] } = this.gateway;
    const lists = { resources, 'resource-templates': templates, tools, prompts, subscriptions, sessions };
    const rows = lists[list as keyof typeof lists].filter((row) => JSON.stringify(row).includes(q));
    return this.answer(q === '' ? list : `${list} with ${q}`, { rows, total: rows.length });
  }

  private async answer<T>(what: string, answer: T): Promise<T> {
    this.requests.push(what);
    await Promise.resolve();
    if (this.problem !== undefined) throw new GatewayProblem('refused', this.problem);
    return answer;
  }
}
