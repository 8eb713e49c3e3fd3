/** The state of a server in the model. */
export interface ModelServer {
  readonly id: string;
  readonly takesSubscriptions: boolean;
  readonly template: string | undefined;
  resources: readonly string[];
  isUp: boolean;
  isEnabled: boolean;
}

export interface ModelRow {
  readonly client: string;
  readonly server: string;
  readonly uri: string;
}

export interface ModelLimits {
  readonly perClient: number;
  readonly perServer: number;
  readonly total: number;
}

type Outcome = 'ok' | 'nothing-to-subscribe' | 'limit-exceeded' | 'server-unavailable';

export const TEMPLATE = 'x://t/{id}';
const isInstance = (uri: string): boolean => /^x:\/\/t\/[^/{]+$/.test(uri);
export const isPattern = (uri: string): boolean => uri.endsWith('*') || uri === TEMPLATE;

/** Whether a pattern matches a URI. */
const matches = (pattern: string, uri: string): boolean =>
  pattern === TEMPLATE ? isInstance(uri) : uri.startsWith(pattern.slice(0, -1));

const covers = (target: string, uri: string): boolean =>
  isPattern(target) ? matches(target, uri) : uri === target || uri.startsWith(`${target}/`);

/** The expected rows, updates and upstream subscriptions, computed with lists and linear scans. */
export class SubscriptionModel {
  rows: ModelRow[] = [];
  readonly servers: Map<string, ModelServer>;
  /** The servers in the scope of each client. */
  readonly scopes = new Map<string, readonly string[]>();
  /** Updates to be delivered since the last `takeDue`: `client uri`, with a mark for deletions. */
  private due: string[] = [];

  constructor(
    servers: readonly ModelServer[],
    private readonly limits: ModelLimits,
  ) {
    this.servers = new Map(servers.map((server) => [server.id, server]));
  }

  get table(): string[] {
    return this.rows.map(({ client, server, uri }) => `${client} ${server} ${uri}`).toSorted();
  }

  takeDue(): string[] {
    return this.due.splice(0).toSorted();
  }

  subscribe(client: string, server: string, uri: string): Outcome {
    const isOwn = (row: ModelRow): boolean => row.client === client;
    if (this.rows.some((row) => isOwn(row) && row.server === server && row.uri === uri)) return 'ok';
    if (!this.isVisible(client, server, uri)) return 'nothing-to-subscribe';
    const { perClient, perServer, total } = this.limits;
    const ofServer = this.rows.filter((row) => row.server === server).length;
    if (this.rows.filter(isOwn).length >= perClient || ofServer >= perServer || this.rows.length >= total)
      return 'limit-exceeded';
    const { isUp, resources } = this.servers.get(server)!;
    const concrete = isPattern(uri) ? resources.filter((own) => matches(uri, own)) : [uri];
    if (!isUp && concrete.length > 0) return 'server-unavailable';
    this.rows.push({ client, server, uri });
    return 'ok';
  }

  remove(isRemoved: (row: ModelRow) => boolean): void {
    this.rows = this.rows.filter((row) => !isRemoved(row));
  }

  setScope(client: string, servers: readonly string[]): void {
    this.scopes.set(client, servers);
    this.remove((row) => row.client === client && !servers.includes(row.server));
  }

  /** Each subscriber gets one update, however many of its subscriptions cover it. */
  updated(server: string, uri: string, mark = ''): void {
    const reached = this.rows.filter((row) => row.server === server && covers(row.uri, uri));
    for (const client of new Set(reached.map((row) => row.client)))
      this.due.push(`${client} resource://${server}/${uri}${mark}`);
  }

  list(id: string, resources: readonly string[]): void {
    const server = this.servers.get(id)!;
    const before = server.resources;
    const isWanted = (uri: string): boolean =>
      this.rows.some(
        (row) => row.server === id && (row.uri === uri || (isPattern(row.uri) && matches(row.uri, uri))),
      );
    server.resources = resources;
    for (const uri of before)
      if (isWanted(uri) && !resources.includes(uri)) this.updated(id, uri, ' deleted');
    for (const uri of resources) if (isWanted(uri) && !before.includes(uri)) this.updated(id, uri);
  }

  /** The resources of a disabled server count as deleted; the rows stay. */
  enable(id: string, enabled: boolean): void {
    const server = this.servers.get(id)!;
    if (server.isEnabled === enabled) return;
    server.isEnabled = enabled;
    for (const uri of this.wanted(server))
      if (this.isOffered(server, uri)) this.updated(id, uri, enabled ? '' : ' deleted');
  }

  /** On a new link, each wanted and offered URI is subscribed and may have changed. */
  linked(id: string): void {
    const server = this.servers.get(id)!;
    for (const uri of this.wanted(server)) if (this.isOffered(server, uri)) this.updated(id, uri);
  }

  /** The URIs that must be subscribed at a server when no work is left. */
  held(id: string): string[] {
    const server = this.servers.get(id)!;
    if (!server.takesSubscriptions) return [];
    return [...this.wanted(server)].filter((uri) => this.isOffered(server, uri)).toSorted();
  }

  isOffered({ resources, template }: ModelServer, uri: string): boolean {
    return resources.includes(uri) || (template !== undefined && isInstance(uri));
  }

  private wanted({ id, resources }: ModelServer): Set<string> {
    const uris = this.rows.filter((row) => row.server === id).map(({ uri }) => uri);
    return new Set(
      uris.flatMap((uri) => (isPattern(uri) ? resources.filter((own) => matches(uri, own)) : [uri])),
    );
  }

  private isVisible(client: string, id: string, uri: string): boolean {
    const server = this.servers.get(id)!;
    const { isEnabled, resources, template } = server;
    if (!isEnabled || !this.scopes.get(client)!.includes(id)) return false;
    if (uri === TEMPLATE) return template !== undefined;
    if (!isPattern(uri)) return this.isOffered(server, uri);
    const beginsTemplate = template?.startsWith(uri.slice(0, -1)) ?? false;
    return beginsTemplate || resources.some((own) => matches(uri, own));
  }
}
