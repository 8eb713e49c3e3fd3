import { describe, expect, it } from '@jest/globals';
import { ANONYMOUS } from '../mcp/principal.js';
import type { Backends } from '../backends/backends.service.js';
import { Limits } from '../config/limits.js';
import { Naming } from '../config/naming.js';
import { EMPTY_LISTING } from '../core/catalog/catalog.js';
import { EVERYTHING, type Scope } from '../core/scope.js';
import type { ClientSession } from '../mcp/mcp-context.js';
import { Registry } from '../registry/registry.service.js';
import { FanOut } from '../mcp/fan-out.js';
import { LogMessages } from './log-messages.js';
import { RequestContext } from './request-context.js';
import { SessionController } from './session.controller.js';
import type { Session } from './session.js';
import { Sessions } from './sessions.service.js';

class House {
  readonly registry = new Registry(new Naming());
  readonly levels: string[] = [];
  readonly told: [client: ClientSession, method: string][] = [];
  readonly session: Session;
  readonly controller: SessionController;

  constructor(private readonly scope: Scope = EVERYTHING) {
    const sessions = new Sessions(new Limits());
    const backends = {
      setLogLevel: (level: string) => this.levels.push(level),
      notifySessionLinks: (client: ClientSession, method: string) => this.told.push([client, method]),
    } as unknown as Backends;
    this.session = sessions.create(ANONYMOUS);
    sessions.add(this.session);
    this.controller = new SessionController(
      this.registry,
      backends,
      new LogMessages(sessions.recipients, new FanOut(), backends),
    );
  }

  context(paramsText?: string): RequestContext {
    const context = new RequestContext(this.session, undefined, 'x', 1, paramsText);
    return Object.assign(context, { scope: this.scope });
  }

  initialize(params: Record<string, unknown> = {}) {
    const whole = { protocolVersion: '2025-11-25', capabilities: {}, ...params };
    return this.controller.initialize(whole, this.context());
  }

  list(id: string, rank: number, instructions?: string): void {
    const tools = [{ name: 't', text: '{"name":"t"}' }];
    const listing = { ...EMPTY_LISTING, tools, instructions };
    void this.registry.put({ id, rank, listing, style: 'always', disabledTools: new Set() });
  }
}

const invalidParams = expect.objectContaining({ kind: 'invalid-params' });

describe('initialize', () => {
  it.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2024-11-05'],
    ['2024-10-07', '2024-10-07'],
    ['2026-07-28', '2025-11-25'],
    ['1999-01-01', '2025-11-25'],
    ['', '2025-11-25'],
  ])('of revision %j is answered with %s, and the session is of that revision', (asked, expected) => {
    const house = new House();
    expect(house.initialize({ protocolVersion: asked }).protocolVersion).toBe(expected);
    expect(house.session.revision.version).toBe(expected);
  });

  it('says who we are and what we can do', () => {
    expect(new House().initialize()).toMatchObject({
      serverInfo: { name: 'gatehouse' },
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
      },
    });
  });

  it('makes known what the client can do and who it is', () => {
    const house = new House();
    house.initialize({ capabilities: { roots: {} }, clientInfo: { name: 'c', version: '1' } });
    expect(house.session.capabilities).toEqual({ roots: {} });
    expect(house.session.clientInfo).toEqual({ name: 'c', version: '1' });
    expect(house.session.isReady).toBe(false);
  });

  it.each<[string, Record<string, unknown>]>([
    ['no revision', { protocolVersion: undefined }],
    ['a revision that is a number', { protocolVersion: 2025 }],
    ['no capabilities', { capabilities: undefined }],
    ['capabilities that are a list', { capabilities: [] }],
  ])('with %s is refused', (_what, params) => {
    expect(() => new House().initialize(params)).toThrow(invalidParams);
  });

  it('brings the instructions of every server in scope, under its name and in its place', () => {
    const house = new House({ key: 'x', allows: (server) => server !== 'secret' });
    house.list('second', 2, 'Be slow.');
    house.list('first', 1, 'Be quick.');
    house.list('secret', 3, 'Be quiet.');
    house.list('silent', 4);
    expect(house.initialize().instructions).toBe('# first\n\nBe quick.\n\n# second\n\nBe slow.');
  });

  it('brings no instructions where no server has any', () => {
    const house = new House();
    house.list('silent', 1);
    expect(house.initialize()).not.toHaveProperty('instructions');
  });
});

describe('a session', () => {
  it('is ready when its client says so', () => {
    const house = new House();
    house.controller.initialized(undefined, house.context());
    expect(house.session.isReady).toBe(true);
  });

  it('answers a ping with nothing', () => {
    expect(new House().controller.ping()).toEqual({});
  });

  it('has the log level its client sets, and servers are asked for it', () => {
    const house = new House();
    expect(house.controller.setLevel({ level: 'debug' }, house.context())).toEqual({});
    expect(house.session.logLevel).toBe('debug');
    expect(house.levels).toEqual(['debug']);
  });

  it.each([[undefined], [{}], [{ level: 'loud' }], [{ level: 7 }]])('refuses the log level %j', (params) => {
    const house = new House();
    expect(() => house.controller.setLevel(params, house.context())).toThrow(invalidParams);
    expect(house.session.logLevel).toBeUndefined();
  });

  it('tells the servers that have a link for its client alone when its roots change', () => {
    const house = new House();
    house.controller.rootsChanged(undefined, house.context());
    expect(house.told).toEqual([[house.session, 'notifications/roots/list_changed']]);
  });

  it.each([[undefined], [{}], [{ requestId: {} }], [{ requestId: null }], [{ requestId: 'unknown' }]])(
    'ignores the cancellation of nothing: %j',
    (params) => {
      const house = new House();
      expect(() => house.controller.cancelled(params, house.context())).not.toThrow();
    },
  );

  it('ignores progress on nothing', () => {
    const house = new House();
    expect(() => house.controller.progress({ progressToken: 1 }, house.context('{}'))).not.toThrow();
    expect(() => house.controller.progress(undefined, house.context())).not.toThrow();
  });
});
