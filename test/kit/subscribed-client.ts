import { onCleanup } from './cleanup.js';
import type { Events } from './events.js';
import { RawSession, type Answer, type SessionOptions } from './raw-session.js';
import { ScriptedServer } from './scripted-server/scripted-server.js';
import { until } from './until.js';

const UPDATED = 'notifications/resources/updated';

/** Starts a scripted server with these resources. It accepts every subscription. */
export async function startSubscribableServer(...uris: readonly string[]): Promise<ScriptedServer> {
  const server = await ScriptedServer.start();
  for (const uri of uris) server.resource(uri);
  return server
    .on('initialize', () => ({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, prompts: {}, resources: { subscribe: true, listChanged: true } },
      serverInfo: { name: 'subscribable', version: '1' },
    }))
    .on('resources/subscribe', () => ({}))
    .on('resources/unsubscribe', () => ({}));
}

/** Sends an update from the server. */
export const sendUpdate = (server: ScriptedServer, uri: string, more: object = {}): void =>
  server.broadcast(UPDATED, { uri, ...more });

const SIGNS: ReadonlyMap<string | undefined, string> = new Map([
  ['resources/subscribe', '+'],
  ['resources/unsubscribe', '-'],
]);

/** The subscribe and unsubscribe requests that the server got, in order: `+uri` and `-uri`. */
export const subscriptionRequests = (server: ScriptedServer): string[] =>
  server.received.flatMap(({ message: { method, params } }) => {
    const sign = SIGNS.get(method);
    return sign === undefined ? [] : [`${sign}${String(params?.['uri'])}`];
  });

/** Waits until the server got the request that many times. */
export const untilRequested = (server: ScriptedServer, request: string, times = 1): Promise<unknown> =>
  until(
    `the server gets ${request}`,
    () => subscriptionRequests(server).filter((one) => one === request).length >= times,
  );

/** A client with an open stream. It ends its session at the end of the test. */
export class SubscribedClient {
  private constructor(
    readonly session: RawSession,
    readonly events: Events,
  ) {}

  static async open(url: string, options?: SessionOptions): Promise<SubscribedClient> {
    const session = await RawSession.open(url, options);
    onCleanup(() => session.end().catch(() => {}));
    return new SubscribedClient(session, await session.listen());
  }

  /** Opens a stream of an existing session. */
  static async onSession(session: RawSession, lastEventId?: string): Promise<SubscribedClient> {
    return new SubscribedClient(session, await session.listen(lastEventId));
  }

  /** Opens a client and subscribes it to these URIs. */
  static async of(url: string, ...uris: readonly string[]): Promise<SubscribedClient> {
    const client = await SubscribedClient.open(url);
    for (const uri of uris) await client.subscribed(uri);
    return client;
  }

  subscribe(uri: unknown, meta?: object): Promise<Answer> {
    return this.session.request('resources/subscribe', { uri, ...(meta && { _meta: meta }) });
  }

  /** Subscribes and returns the id of the subscription. Throws when the request is refused. */
  async subscribed(uri: string): Promise<string> {
    const { result, text } = await this.subscribe(uri, { 'io.gatehouse/subscription': true });
    const meta = result?.['_meta'] as Record<string, string> | undefined;
    const id = meta?.['io.gatehouse/subscription'];
    if (id === undefined) throw new Error(`not subscribed: ${text}`);
    return id;
  }

  unsubscribe(uri: string): Promise<Answer> {
    return this.session.request('resources/unsubscribe', { uri });
  }

  /** The params of every update so far. */
  get updates(): Record<string, unknown>[] {
    return this.events.messages.filter(({ method }) => method === UPDATED).map(({ params = {} }) => params);
  }

  get uris(): unknown[] {
    return this.updates.map(({ uri }) => uri);
  }

  /** Waits until the client got that many updates of the resource. */
  untilUpdated(uri: string, times = 1): Promise<unknown> {
    return until(
      `the client gets ${times} updates of ${uri}`,
      () => this.uris.filter((one) => one === uri).length >= times,
    );
  }
}
