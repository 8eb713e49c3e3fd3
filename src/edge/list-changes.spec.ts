import { SessionListings } from '../backends/session-listings.js';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { FakeResponse } from '../../test/kit/fake-response.js';
import { createListens, listenRequest } from '../../test/kit/listens.js';
import { flushPromises } from '../../test/kit/promises.js';
import { ANONYMOUS } from '../mcp/principal.js';
import { Limits } from '../config/limits.js';
import { Naming } from '../config/naming.js';
import type { Definition } from '../core/naming/catalog-entry.js';
import type { NamingStyle } from '../core/naming/naming.js';
import { UNFETCHED_LISTING, type ListKind } from '../core/catalog/catalog.js';
import { EVERYTHING, type Scope } from '../core/scope.js';
import { Registry } from '../registry/registry.service.js';
import type { EventFrame } from '../mcp/event-frame.js';
import type { DeliverOptions } from '../mcp/mcp-context.js';
import { FanOut } from '../mcp/fan-out.js';
import { ListChanges } from './list-changes.js';
import type { Session } from './session.js';
import { Sessions } from './sessions.service.js';

const TOOLS = 'notifications/tools/list_changed';
const PROMPTS = 'notifications/prompts/list_changed';

const onlyServers = (...servers: string[]): Scope => ({
  key: servers.join(),
  allows: (server) => servers.includes(server),
});

const definitions = (names: readonly string[]): Definition[] =>
  names.map((name) => ({ name, text: JSON.stringify({ name }) }));

/** Sessions, servers whose listings the spec sets, and the events that each session gets. */
class Harness {
  readonly registry = new Registry(new Naming());
  private readonly sessions = new Sessions(new Limits());
  private readonly listens = createListens(this.sessions.recipients);
  private readonly delivered = new Map<Session, { frame: EventFrame; options: DeliverOptions }[]>();

  constructor() {
    new ListChanges(
      this.registry,
      this.sessions.recipients,
      new FanOut(),
      new SessionListings(this.registry),
    ).onModuleInit();
  }

  open({ scope = EVERYTHING, isReady = true }: { scope?: Scope; isReady?: boolean } = {}): Session {
    const session = Object.assign(this.sessions.create(ANONYMOUS), { isReady, scope });
    this.sessions.add(session);
    this.delivered.set(session, []);
    session.deliver = (frame, options) => this.delivered.get(session)?.push({ frame, options });
    return session;
  }

  /** What an open listen stream gets. */
  listen(kinds: readonly ListKind[], scope: Scope): FakeResponse {
    const client = new FakeResponse();
    this.listens.create(listenRequest({ scope }), kinds).open({ takeStream: () => client.response }, {});
    return client;
  }

  /** A server lists these tools and prompts. */
  list(
    id: string,
    tools: readonly string[],
    prompts: readonly string[] = [],
    style: NamingStyle = 'always',
  ): void {
    const listing = { ...UNFETCHED_LISTING, tools: definitions(tools), prompts: definitions(prompts) };
    void this.registry.put({ id, rank: 0, listing, style, disabledTools: new Set() });
  }

  sentTo(session: Session): { frame: EventFrame; options: DeliverOptions }[] {
    return this.delivered.get(session)!;
  }

  methodsTo(session: Session): string[] {
    return this.sentTo(session).map(
      ({ frame }) => /"method":"([^"]+)"/.exec(frame.bytes.toString())?.[1] ?? '',
    );
  }
}

describe('ListChanges', () => {
  it('notifies no client of another tenant whose tool has the same name', () => {
    const harness = new Harness();
    harness.list('db', ['query'], [], 'conflict');
    const [one, other] = [
      harness.open({ scope: onlyServers('db') }),
      harness.open({ scope: onlyServers('db', 'files') }),
    ];
    harness.list('files', ['query'], [], 'conflict');
    expect(harness.methodsTo(one)).toEqual([]);
    expect(harness.methodsTo(other)).toEqual([TOOLS]);
    const { tools } = harness.registry.catalog;
    expect(tools.view(one.scope).find('query')).toMatchObject({ server: 'db', publicName: 'query' });
    expect(tools.view(other.scope).find('query')).toBeUndefined();
  });

  it('notifies no client of a tool whose name belongs to another server of its scope, in style never', async () => {
    const harness = new Harness();
    harness.registry.setServers(['db', 'files']);
    harness.list('db', ['query'], [], 'never');
    harness.list('files', ['read'], [], 'never');
    await yieldToEventLoop();
    const sessions = [
      harness.open(),
      harness.open({ scope: onlyServers('db', 'files') }),
      harness.open({ scope: onlyServers('files') }),
    ];
    const sent = () => sessions.map((session) => harness.methodsTo(session).length);
    for (const tools of [['read', 'query'], ['read']]) harness.list('files', tools, [], 'never');
    await yieldToEventLoop();
    expect(sent()).toEqual([0, 0, 2]);
    harness.list('files', ['read', 'write'], [], 'never');
    await yieldToEventLoop();
    expect(sent()).toEqual([1, 1, 3]);
  });

  it('notifies each client once per kind of list that changed', () => {
    const harness = new Harness();
    const session = harness.open();
    harness.list('db', ['t'], ['p']);
    expect(harness.methodsTo(session).toSorted()).toEqual([PROMPTS, TOOLS]);
    harness.list('db', ['t'], ['p', 'q']);
    expect(harness.methodsTo(session).slice(2)).toEqual([PROMPTS]);
  });

  it('sends nothing when the listing did not change', () => {
    const harness = new Harness();
    harness.list('db', ['t']);
    const session = harness.open();
    harness.list('db', ['t']);
    expect(harness.sentTo(session)).toEqual([]);
  });

  it('notifies only clients with the server in scope', () => {
    const harness = new Harness();
    const [all, db, git, both] = [
      harness.open(),
      harness.open({ scope: onlyServers('db') }),
      harness.open({ scope: onlyServers('git') }),
      harness.open({ scope: onlyServers('git', 'db') }),
    ];
    harness.list('db', ['t']);
    expect([all, db, git, both].map((session) => harness.methodsTo(session))).toEqual([
      [TOOLS],
      [TOOLS],
      [],
      [TOOLS],
    ]);
  });

  it('does not notify a client before notifications/initialized', () => {
    const harness = new Harness();
    const session = harness.open({ isReady: false });
    harness.list('db', ['t']);
    expect(harness.sentTo(session)).toEqual([]);
  });

  it('notifies the listen streams that asked for the list, and of each change once', async () => {
    const harness = new Harness();
    const clients = [
      harness.listen(['tools'], EVERYTHING),
      harness.listen(['prompts', 'resources'], EVERYTHING),
      harness.listen(['tools', 'prompts'], onlyServers('db')),
      harness.listen(['tools', 'prompts'], onlyServers('git')),
    ];
    harness.list('db', ['t'], ['p']);
    await flushPromises();
    const lists = clients.map(({ methods }) => methods.slice(1).map(String).toSorted());
    expect(lists).toEqual([[TOOLS], [PROMPTS], [PROMPTS, TOOLS], []]);
  });

  it('encodes one event for all recipients', () => {
    const harness = new Harness();
    const sessions = Array.from({ length: 5 }, () => harness.open());
    harness.list('db', ['t']);
    const buffers = sessions.map((session) => harness.sentTo(session)[0]!.frame.bytes);
    expect(buffers.every((bytes) => bytes === buffers[0])).toBe(true);
    expect(buffers[0]!.toString()).toContain(`data: {"jsonrpc":"2.0","method":"${TOOLS}"}\n\n`);
  });

  it('coalesces changes of one kind', () => {
    const harness = new Harness();
    const session = harness.open();
    harness.list('db', ['t'], ['p']);
    harness.list('db', ['t', 'u'], ['p', 'q']);
    const keys = harness.sentTo(session).map(({ options }) => options.coalesce);
    expect(keys).not.toContain(undefined);
    expect(new Set(keys).size).toBe(2);
  });
});
