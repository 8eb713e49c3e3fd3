import { describe, expect, it } from '@jest/globals';
import { ANONYMOUS } from '../mcp/principal.js';
import { Limits } from '../config/limits.js';
import { Naming } from '../config/naming.js';
import type { Definition } from '../core/naming/catalog-entry.js';
import { EMPTY_LISTING } from '../core/catalog/catalog.js';
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

/** The sessions of a gateway whose servers the spec lists, and what each is sent. */
class House {
  readonly registry = new Registry(new Naming());
  private readonly sessions = new Sessions(new Limits());
  private readonly delivered = new Map<Session, { frame: EventFrame; options: DeliverOptions }[]>();

  constructor() {
    new ListChanges(this.registry, this.sessions.recipients, new FanOut()).onModuleInit();
  }

  open({ scope = EVERYTHING, isReady = true }: { scope?: Scope; isReady?: boolean } = {}): Session {
    const session = Object.assign(this.sessions.create(ANONYMOUS), { isReady, scope });
    this.sessions.add(session);
    this.delivered.set(session, []);
    session.deliver = (frame, options) => this.delivered.get(session)?.push({ frame, options });
    return session;
  }

  /** A server lists these tools and prompts. */
  list(id: string, tools: readonly string[], prompts: readonly string[] = []): void {
    const listing = { ...EMPTY_LISTING, tools: definitions(tools), prompts: definitions(prompts) };
    void this.registry.put({ id, rank: 0, listing, style: 'always', disabledTools: new Set() });
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

describe('a change of a list', () => {
  it('is told to every client that sees it, once for each kind that changed', () => {
    const house = new House();
    const session = house.open();
    house.list('db', ['t'], ['p']);
    expect(house.methodsTo(session).toSorted()).toEqual([PROMPTS, TOOLS]);
    house.list('db', ['t'], ['p', 'q']);
    expect(house.methodsTo(session).slice(2)).toEqual([PROMPTS]);
  });

  it('that is none is told to nobody', () => {
    const house = new House();
    house.list('db', ['t']);
    const session = house.open();
    house.list('db', ['t']);
    expect(house.sentTo(session)).toEqual([]);
  });

  it('is told to exactly the clients in whose scope it is', () => {
    const house = new House();
    const [all, db, git, both] = [
      house.open(),
      house.open({ scope: onlyServers('db') }),
      house.open({ scope: onlyServers('git') }),
      house.open({ scope: onlyServers('git', 'db') }),
    ];
    house.list('db', ['t']);
    expect([all, db, git, both].map((session) => house.methodsTo(session))).toEqual([
      [TOOLS],
      [TOOLS],
      [],
      [TOOLS],
    ]);
  });

  it('is not told to a client that is not ready', () => {
    const house = new House();
    const session = house.open({ isReady: false });
    house.list('db', ['t']);
    expect(house.sentTo(session)).toEqual([]);
  });

  it('is encoded once for all who are told', () => {
    const house = new House();
    const sessions = Array.from({ length: 5 }, () => house.open());
    house.list('db', ['t']);
    const buffers = sessions.map((session) => house.sentTo(session)[0]!.frame.bytes);
    expect(buffers.every((bytes) => bytes === buffers[0])).toBe(true);
    expect(buffers[0]!.toString()).toContain(`data: {"jsonrpc":"2.0","method":"${TOOLS}"}\n\n`);
  });

  it('stands for all before it that its client has not read yet', () => {
    const house = new House();
    const session = house.open();
    house.list('db', ['t'], ['p']);
    house.list('db', ['t', 'u'], ['p', 'q']);
    const keys = house.sentTo(session).map(({ options }) => options.coalesce);
    expect(keys).not.toContain(undefined);
    expect(new Set(keys).size).toBe(2);
  });
});
