import { describe, expect, it } from '@jest/globals';
import { flushPromises, outcomeOf } from '../../test/kit/promises.js';
import { deferred } from '../../test/kit/until.js';
import { ANONYMOUS } from '../mcp/principal.js';
import type { Backends } from '../backends/backends.service.js';
import { GatehouseConfig } from '../config/gatehouse-config.js';
import { LiveConfig } from '../config/live-config.js';
import { Metrics } from '../metrics/metrics.js';
import { Limits } from '../config/limits.js';
import { Naming } from '../config/naming.js';
import { UNFETCHED_LISTING } from '../core/catalog/catalog.js';
import { EVERYTHING, type Scope } from '../core/scope.js';
import type { LinkOwner } from '../mcp/mcp-context.js';
import { Registry } from '../registry/registry.service.js';
import { FanOut } from '../mcp/fan-out.js';
import { LogMessages } from './log-messages.js';
import { RequestContext } from './request-context.js';
import { SessionController } from './session.controller.js';
import { ServerInstructions } from './server-instructions.js';
import type { Session } from './session.js';
import { Sessions } from './sessions.service.js';

class Harness {
  readonly registry = new Registry(new Naming());
  readonly config = new LiveConfig(new GatehouseConfig());
  readonly metrics = new Metrics();
  readonly levels: string[] = [];
  readonly notified: [client: LinkOwner, method: string][] = [];
  readonly sessions = new Sessions(new Limits());
  readonly session: Session;
  readonly controller: SessionController;

  constructor(private readonly scope: Scope = EVERYTHING) {
    const { sessions } = this;
    const backends = {
      setLogLevel: (level: string) => this.levels.push(level),
      notifySessionLinks: (client: LinkOwner, method: string) => this.notified.push([client, method]),
    } as unknown as Backends;
    this.session = sessions.create(ANONYMOUS);
    sessions.add(this.session);
    this.controller = new SessionController(
      new ServerInstructions(this.registry, this.config, this.metrics),
      backends,
      new LogMessages(sessions.recipients, new FanOut(), backends),
      sessions,
    );
  }

  context(paramsText?: string): RequestContext {
    const context = new RequestContext(this.session, undefined, 'x', 1, paramsText);
    return Object.assign(context, { scope: this.scope });
  }

  initialize(params: Record<string, unknown> = {}) {
    const allParams = { protocolVersion: '2025-11-25', capabilities: {}, ...params };
    return this.controller.initialize(allParams, this.context());
  }

  list(id: string, rank: number, instructions?: string): void {
    const tools = [{ name: 't', text: '{"name":"t"}' }];
    const listing = { ...UNFETCHED_LISTING, tools, instructions };
    void this.registry.put({ id, rank, listing, style: 'always', disabledTools: new Set() });
  }
}

const invalidParams = expect.objectContaining({ kind: 'invalid-params' });

describe('SessionController.initialize', () => {
  it.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2024-11-05'],
    ['2024-10-07', '2024-10-07'],
    ['2026-07-28', '2025-11-25'],
    ['1999-01-01', '2025-11-25'],
    ['', '2025-11-25'],
  ])('negotiates %j to %s', (requested, expected) => {
    const harness = new Harness();
    expect(harness.initialize({ protocolVersion: requested }).protocolVersion).toBe(expected);
    expect(harness.session.revision.version).toBe(expected);
  });

  it('answers with server info and capabilities', () => {
    expect(new Harness().initialize()).toMatchObject({
      serverInfo: { name: 'gatehouse' },
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
      },
    });
  });

  it('stores capabilities and client info', () => {
    const harness = new Harness();
    harness.initialize({ capabilities: { roots: {} }, clientInfo: { name: 'c', version: '1' } });
    expect(harness.session.capabilities).toEqual({ roots: {} });
    expect(harness.session.clientInfo).toEqual({ name: 'c', version: '1' });
    expect(harness.session.isReady).toBe(false);
  });

  it.each<[string, Record<string, unknown>]>([
    ['no revision', { protocolVersion: undefined }],
    ['a revision that is a number', { protocolVersion: 2025 }],
    ['no capabilities', { capabilities: undefined }],
    ['capabilities that are a list', { capabilities: [] }],
  ])('refuses %s', (_what, params) => {
    expect(() => new Harness().initialize(params)).toThrow(invalidParams);
  });

  it('answers with the instructions of all servers in scope, in order', () => {
    const harness = new Harness({ key: 'x', allows: (server) => server !== 'secret' });
    harness.list('second', 2, 'Be slow.');
    harness.list('first', 1, 'Be quick.');
    harness.list('secret', 3, 'Be quiet.');
    harness.list('silent', 4);
    expect(harness.initialize().instructions).toBe('# first\n\nBe quick.\n\n# second\n\nBe slow.');
  });

  it('answers with the instructions that are included, within instructions.maxBytes, and counts what it cuts', async () => {
    const harness = new Harness();
    harness.list('first', 1, 'Be quick.');
    harness.list('second', 2, 'x'.repeat(500));
    const configure = (instructions: object): void =>
      harness.config.replace(Object.assign(new GatehouseConfig(), { instructions }));
    configure({ include: ['first'], maxBytes: 8192 });
    expect(harness.initialize().instructions).toBe('# first\n\nBe quick.');
    configure({ include: 'none', maxBytes: 8192 });
    expect(harness.initialize()).not.toHaveProperty('instructions');
    configure({ include: 'all', maxBytes: 0 });
    expect(harness.initialize()).not.toHaveProperty('instructions');
    configure({ include: 'all', maxBytes: 300 });
    const { instructions } = harness.initialize();
    expect(instructions).toMatch(/^# first\n\nBe quick\.\n\n# second\n\nx{200,}…$/);
    expect(Buffer.byteLength(instructions!)).toBeLessThanOrEqual(300);
    expect(await harness.metrics.text()).toContain('gatehouse_cut_instructions_total 2');
  });

  it('answers without instructions if no server has any', () => {
    const harness = new Harness();
    harness.list('silent', 1);
    expect(harness.initialize()).not.toHaveProperty('instructions');
  });
});

describe('SessionController', () => {
  it('marks the session ready on notifications/initialized', () => {
    const harness = new Harness();
    harness.controller.initialized(undefined, harness.context());
    expect(harness.session.isReady).toBe(true);
  });

  it('answers a ping with an empty result', () => {
    expect(new Harness().controller.ping()).toEqual({});
  });

  it('sets the log level of the session and of servers', async () => {
    const harness = new Harness();
    expect(await harness.controller.setLevel({ level: 'debug' }, harness.context())).toEqual({});
    expect(harness.session.logLevel).toBe('debug');
    expect(harness.levels).toEqual(['debug']);
  });

  it('answers when the changed log level is persisted', async () => {
    const harness = new Harness();
    const written = deferred();
    harness.sessions.waitUntilPersisted = () => written.promise;
    const outcome = outcomeOf(harness.controller.setLevel({ level: 'debug' }, harness.context()));
    await flushPromises();
    expect(outcome).toEqual({});
    written.resolve();
    await flushPromises();
    expect(outcome.value).toEqual({});
  });

  it.each([[undefined], [{}], [{ level: 'loud' }], [{ level: 7 }]])(
    'refuses the log level %j',
    async (params) => {
      const harness = new Harness();
      await expect(harness.controller.setLevel(params, harness.context())).rejects.toThrow(invalidParams);
      expect(harness.session.logLevel).toBeUndefined();
    },
  );

  it('forwards changed roots to servers with a link of this session', () => {
    const harness = new Harness();
    harness.controller.rootsChanged(undefined, harness.context());
    expect(harness.notified).toEqual([[harness.session, 'notifications/roots/list_changed']]);
  });

  it.each([[undefined], [{}], [{ requestId: {} }], [{ requestId: null }], [{ requestId: 'unknown' }]])(
    'ignores the cancellation of an unknown request: %j',
    (params) => {
      const harness = new Harness();
      expect(() => harness.controller.cancelled(params, harness.context())).not.toThrow();
    },
  );

  it('ignores progress on an unknown request', () => {
    const harness = new Harness();
    expect(() => harness.controller.progress({ progressToken: 1 }, harness.context('{}'))).not.toThrow();
    expect(() => harness.controller.progress(undefined, harness.context())).not.toThrow();
  });
});
