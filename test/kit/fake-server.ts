import type { Link } from '../../src/backends/link/link.js';
import { RemoteError } from '../../src/core/errors.js';
import { FakeLink, type Answers, type PendingRequest } from './fake-link.js';

/** The reply to a subscribe request: accepted, refused, unknown method, or left for the spec to answer. */
export type SubscribeReply = 'takes' | 'refuses' | 'lacks' | 'waits';

const REFUSAL = new RemoteError(-32050, 'not this one', '{"code":-32050,"message":"not this one"}');
const UNKNOWN_METHOD = new RemoteError(-32601, 'Method not found', '{"code":-32601}');
const UPDATED = 'notifications/resources/updated';

export const uriOf = (n: number): string => `x://${String(n).padStart(4, '0')}`;
export const manyUris = (count: number): string[] => Array.from({ length: count }, (_, n) => uriOf(n));

/** A server over fake links that lists resources, accepts subscriptions and records requests. */
export class FakeServer {
  readonly links: FakeLink[] = [];
  /** The URIs subscribed on the current link. */
  readonly held = new Set<string>();
  resources: string[];
  templates: string[] = [];
  isReachable = true;
  replyToSubscribe: (uri: string) => SubscribeReply = () => 'takes';
  /** The text of a resource, or the error of its read. */
  reads: (uri: string) => string | Error = (uri) => `the text of ${uri}`;

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
    if (!link) throw new Error('no link is open');
    return link;
  }

  /** The subscribe and unsubscribe requests of all links, in order: `+uri` and `-uri`. */
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

  /** The subscribe request of this URI that is in flight. */
  pendingSubscribe(uri: string): PendingRequest {
    const params = JSON.stringify({ uri });
    const found = [...this.link.inFlight].find(
      (asked) => asked.method === 'resources/subscribe' && asked.params === params,
    );
    if (!found) throw new Error(`no subscribe request for ${uri} is in flight`);
    return found;
  }

  accept(uri: string): void {
    this.held.add(uri);
    this.pendingSubscribe(uri).answer({});
  }

  refuse(uri: string): void {
    this.pendingSubscribe(uri).fail(REFUSAL);
  }

  /** Sends an update; `text` replaces its serialised params. */
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
      const reply = this.replyToSubscribe(uri);
      if (reply === 'waits') return undefined;
      if (reply === 'refuses') return REFUSAL;
      if (reply === 'lacks') return UNKNOWN_METHOD;
      this.held.add(uri);
      return {};
    },
    'resources/unsubscribe': ({ params = '{}' }) => {
      this.held.delete((JSON.parse(params) as { uri: string }).uri);
      return {};
    },
  };
}
