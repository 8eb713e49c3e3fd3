import type { Link } from '../../src/backends/link/link.js';
import { RemoteError } from '../../src/core/errors.js';
import { FakeLink, type Answers, type PendingRequest } from './fake-link.js';

/** What becomes of a request to subscribe: it is taken, refused, or waits for the spec. */
export type SubscribeReply = 'takes' | 'refuses' | 'waits';

const REFUSAL = new RemoteError(-32050, 'not this one', '{"code":-32050,"message":"not this one"}');
const UPDATED = 'notifications/resources/updated';

export const uriOf = (n: number): string => `x://${String(n).padStart(4, '0')}`;
export const manyUris = (count: number): string[] => Array.from({ length: count }, (_, n) => uriOf(n));

/** A server that lists resources, takes subscriptions, and remembers what it was told. */
export class FakeServer {
  readonly links: FakeLink[] = [];
  /** What it holds for whoever is connected now. */
  readonly held = new Set<string>();
  resources: string[];
  templates: string[] = [];
  isReachable = true;
  replyToSubscribe: (uri: string) => SubscribeReply = () => 'takes';
  /** What a read brings; the words of the resource. */
  reads: (uri: string) => string | Error = (uri) => `the words of ${uri}`;

  constructor(
    resources: readonly string[] = [],
    private readonly acceptsSubscriptions = true,
  ) {
    this.resources = [...resources];
  }

  connect(): Promise<Link> {
    if (!this.isReachable) return Promise.reject(new Error('no route'));
    this.held.clear();
    const subscribe = this.acceptsSubscriptions ? { subscribe: true } : {};
    const link = new FakeLink(this.answers, {
      capabilities: { resources: { ...subscribe, listChanged: true } },
    });
    this.links.push(link);
    return Promise.resolve(link);
  }

  get link(): FakeLink {
    const link = this.links.at(-1);
    if (!link) throw new Error('nobody is connected');
    return link;
  }

  /** What all links were told, in order: `+uri` and `-uri`. */
  get subscriptionRequests(): string[] {
    return this.links.flatMap(({ requests }) =>
      requests.flatMap(({ method, params = '{}' }) => {
        const sign = { 'resources/subscribe': '+', 'resources/unsubscribe': '-' }[method];
        return sign === undefined ? [] : [`${sign}${(JSON.parse(params) as { uri: string }).uri}`];
      }),
    );
  }

  /** How often a resource was read. */
  readsOf(uri: string): number {
    const params = JSON.stringify({ uri });
    const isRead = (request: { method: string; params?: string | undefined }): boolean =>
      request.method === 'resources/read' && request.params === params;
    return this.links.reduce((sum, { requests }) => sum + requests.filter(isRead).length, 0);
  }

  /** A request to subscribe that waits. */
  pendingSubscribe(uri: string): PendingRequest {
    const params = JSON.stringify({ uri });
    const found = [...this.link.inFlight].find(
      (asked) => asked.method === 'resources/subscribe' && asked.params === params,
    );
    if (!found) throw new Error(`nobody asks for ${uri}`);
    return found;
  }

  accept(uri: string): void {
    this.held.add(uri);
    this.pendingSubscribe(uri).answer({});
  }

  refuse(uri: string): void {
    this.pendingSubscribe(uri).fail(REFUSAL);
  }

  /** Tells of a change; `text` as the server writes it, if the spec is particular about that. */
  update(uri: string, more: object = {}, text?: string): void {
    this.link.emit(UPDATED, { uri, ...more }, text === undefined ? {} : { paramsText: text });
  }

  listChanged(): void {
    this.link.emit('notifications/resources/list_changed');
  }

  private readonly answers: Answers = {
    'tools/list': () => ({ tools: [] }),
    'prompts/list': () => ({ prompts: [] }),
    'resources/list': () => ({ resources: this.resources.map((uri) => ({ uri, name: uri })) }),
    'resources/templates/list': () => ({
      resourceTemplates: this.templates.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
    }),
    'resources/read': ({ params = '{}' }) => {
      const { uri } = JSON.parse(params) as { uri: string };
      const read = this.reads(uri);
      return typeof read === 'string' ? { contents: [{ uri, text: read }] } : read;
    },
    'resources/subscribe': ({ params = '{}' }) => {
      const { uri } = JSON.parse(params) as { uri: string };
      const willingness = this.replyToSubscribe(uri);
      if (willingness === 'waits') return undefined;
      if (willingness === 'refuses') return REFUSAL;
      this.held.add(uri);
      return {};
    },
    'resources/unsubscribe': ({ params = '{}' }) => {
      this.held.delete((JSON.parse(params) as { uri: string }).uri);
      return {};
    },
  };
}
