import { beforeEach, describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { pageOf } from '../../test/kit/offers.js';
import { configOf, liveConfig } from '../../test/kit/config.js';
import { FakeClient } from '../../test/kit/fake-client.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { MemoryDecisionStore } from '../../test/kit/memory-decision-store.js';
import { ScriptedServer, text } from '../../test/kit/scripted-server/scripted-server.js';
import { deferred, until } from '../../test/kit/until.js';
import { decideServer } from '../state/decisions.js';
import type { ServerDecision } from '../state/decision-store.js';
import { Limits } from '../config/limits.js';
import { Naming } from '../config/naming.js';
import { StartupSettings } from '../config/startup-settings.js';
import { EVERYTHING } from '../core/scope.js';
import { Tracing } from '../mcp/tracing.js';
import { Metrics } from '../metrics/metrics.js';
import { Registry } from '../registry/registry.service.js';
import { MemoryQuotas } from '../state/memory-quotas.js';
import { BackendEnvironment } from './backend-environment.js';
import { Backends } from './backends.service.js';
import { DesiredServers } from './desired-servers.js';
import { LinkFactories } from './link-factories.js';

/** The Backends service with servers, configuration and decisions as the spec sets them. */
class Harness {
  readonly registry = new Registry(new Naming());
  readonly state = new MemoryDecisionStore();
  readonly live;
  readonly backends: Backends;

  constructor(mcpServers: object) {
    this.live = liveConfig({ mcpServers });
    const desired = new DesiredServers(this.live, this.state);
    const [metrics, limits] = [new Metrics(), new Limits()];
    this.backends = new Backends(
      desired,
      new Naming(),
      this.registry,
      metrics,
      new LinkFactories(desired, limits, this.registry, metrics),
      new BackendEnvironment(
        Tracing.OFF,
        limits,
        new MemoryQuotas(),
        new StartupSettings(),
        metrics,
        this.live,
      ),
    );
    onCleanup(() => this.backends.onApplicationShutdown());
    this.backends.onApplicationBootstrap();
    this.backends.startServers();
  }

  reload(mcpServers: object): void {
    this.live.replace(configOf({ mcpServers }));
  }

  decide(id: string, decision: ServerDecision): void {
    this.state.decide((decisions) => decideServer(decisions, id, (before) => ({ ...before, ...decision })));
  }

  get tools(): string[] {
    const page = pageOf(this.registry.catalog.tools.view(EVERYTHING), 'tools');
    return (JSON.parse(page) as { tools: { name: string }[] }).tools.map(({ name }) => name);
  }

  untilToolsAre(...tools: string[]): Promise<unknown> {
    return until(`the tools are ${tools.join(' ')}`, () => this.tools.join() === tools.join());
  }

  call(id: string, name = 't'): Promise<unknown> {
    const params = JSON.stringify({ name });
    const caller = new FakeClient('a').call();
    return this.backends
      .get(id)
      .call({ method: 'tools/call', params, caller })
      .then((result) => result.toJSON());
  }
}

const openLinks = (server: ScriptedServer): number => server.links.filter(({ isOpen }) => isOpen).length;

describe('Backends', () => {
  let a: ScriptedServer;
  let b: ScriptedServer;

  beforeEach(async () => {
    recordLog();
    [a, b] = await Promise.all([ScriptedServer.start(), ScriptedServer.start()]);
    for (const server of [a, b]) server.tool('t', () => text('done')).tool('u', () => text('done'));
  });

  async function listBoth(): Promise<Harness> {
    const harness = new Harness({ a: a.http, b: b.http });
    await harness.untilToolsAre('a__t', 'a__u', 'b__t', 'b__u');
    return harness;
  }

  it('exist for enabled servers only', async () => {
    const harness = new Harness({ a: a.http, b: { ...b.http, enabled: false } });
    await harness.untilToolsAre('a__t', 'a__u');
    expect([...harness.backends.all()].map(({ id }) => id)).toEqual(['a']);
    expect(harness.backends.find('b')).toBeUndefined();
    expect(() => harness.backends.get('b')).toThrow(expect.objectContaining({ kind: 'server-unavailable' }));
    expect(b.links).toEqual([]);
  });

  it('start and stop at once with decisions while other servers keep their link', async () => {
    const harness = await listBoth();
    harness.decide('a', { enabled: false });
    expect(harness.tools).toEqual(['b__t', 'b__u']);
    await until('its link is closed', () => openLinks(a) === 0);
    harness.decide('a', { enabled: true });
    await harness.untilToolsAre('a__t', 'a__u', 'b__t', 'b__u');
    expect([a.links.length, b.links.length]).toEqual([2, 1]);
  });

  it('start and stop when the configuration is reloaded', async () => {
    const harness = new Harness({ a: a.http });
    await harness.untilToolsAre('a__t', 'a__u');
    harness.reload({ b: b.http });
    expect(harness.tools).toEqual([]);
    await harness.untilToolsAre('b__t', 'b__u');
    await until('the other is closed', () => openLinks(a) === 0);
  });

  it.each([
    ['an explicit enabled', { enabled: true }],
    ['concurrency', { concurrency: 1 }],
    ['queue', { queue: 1 }],
    ['timeoutMs', { timeoutMs: 777 }],
    ['disabled tools', { tools: { disabled: ['x'] } }],
    ['exclusive tools', { tools: { exclusive: ['t'] } }],
    ['naming', { naming: { tools: 'conflict' } }],
    ['watch', { watch: { pollMs: 5000, coalesceMs: 100 } }],
  ])('keep their link when only %s changes', async (_what, change) => {
    const harness = await listBoth();
    const before = harness.backends.find('a');
    harness.reload({ a: { ...a.http, ...change }, b: b.http });
    expect(harness.backends.find('a')).toBe(before);
    expect(harness.backends.find('a')!.config).toBe(harness.live.current.mcpServers.get('a'));
    expect(await harness.call('a')).toEqual(text('done'));
    expect([a.links.length, b.links.length]).toEqual([1, 1]);
  });

  it.each([
    ['headers', { headers: { 'x-key': '1' } }],
    ['isolation', { isolation: 'exclusive' }],
  ])('replace the link of that server only when %s changes', async (_what, change) => {
    const harness = await listBoth();
    harness.reload({ a: { ...a.http, ...change }, b: b.http });
    await harness.untilToolsAre('a__t', 'a__u', 'b__t', 'b__u');
    await until('the old link is closed', () => openLinks(a) === 1 && a.links.length === 2);
    expect(b.links).toHaveLength(1);
  });

  it('hide and show a tool at once without a sync', async () => {
    const harness = await listBoth();
    harness.decide('a', { tools: { t: false } });
    expect(harness.tools).toEqual(['a__u', 'b__t', 'b__u']);
    harness.decide('a', { tools: { t: true } });
    expect(harness.tools).toEqual(['a__t', 'a__u', 'b__t', 'b__u']);
    expect(a.countOf('tools/list')).toBe(1);
  });

  it('resolve name conflicts by the order of the file, also when only the order changes', async () => {
    const never = { naming: { tools: 'never' } };
    const harness = new Harness({ a: { ...a.http, ...never }, b: { ...b.http, ...never } });
    await harness.untilToolsAre('t', 'u');
    await until('the tools of both are known', () =>
      harness.registry.catalog.servers.every(
        ({ listing }, _n, all) => all.length === 2 && listing.tools.length > 0,
      ),
    );
    const owner = () => harness.registry.catalog.tools.view(EVERYTHING).find('t')?.server;
    expect(owner()).toBe('a');
    harness.reload({ b: { ...b.http, ...never }, a: { ...a.http, ...never } });
    expect(owner()).toBe('b');
  });

  it('finish calls in flight when disabled and refuse new ones', async () => {
    const gate = deferred();
    a.tool('t', async () => {
      await gate.promise;
      return text('late');
    });
    const harness = await listBoth();
    const backend = harness.backends.get('a');
    const running = harness.call('a');
    await until('the call has arrived', () => a.inFlight === 1);
    harness.decide('a', { enabled: false });
    await expect(
      backend.call({ method: 'tools/call', params: '{"name":"u"}', caller: new FakeClient('b').call() }),
    ).rejects.toMatchObject({ kind: 'server-unavailable' });
    expect(openLinks(a)).toBe(1);
    gate.resolve();
    expect(await running).toEqual(text('late'));
    await until('the link is closed', () => openLinks(a) === 0);
  });

  it('send the log level to servers that are enabled later, and only once to others', async () => {
    const harness = new Harness({ a: a.http });
    await harness.untilToolsAre('a__t', 'a__u');
    harness.backends.setLogLevel('debug');
    harness.reload({ a: a.http, b: b.http });
    const { message } = await b.untilReceived('logging/setLevel');
    expect(message.params).toEqual({ level: 'debug' });
    expect(a.countOf('logging/setLevel')).toBe(1);
  });

  it('emit notifications and state changes to their listeners', async () => {
    const harness = await listBoth();
    const notifications: string[] = [];
    const states: string[] = [];
    const removeListener = harness.backends.onNotification((id, { method }) =>
      notifications.push(`${id} ${method}`),
    );
    const removeStateListener = harness.backends.onStateChange((backend) => states.push(backend.id));
    a.broadcast('notifications/message', { level: 'info', data: 1 });
    await until('it is received', () => notifications.length === 1);
    expect(notifications).toEqual(['a notifications/message']);
    harness.decide('b', { enabled: false });
    await until('its end is reported', () => states.includes('b'));
    removeListener();
    removeStateListener();
    a.broadcast('notifications/message', { level: 'info', data: 2 });
    await harness.call('a');
    expect(notifications).toHaveLength(1);
  });

  it('close all links on shutdown, also those of retiring backends', async () => {
    const harness = await listBoth();
    harness.decide('a', { enabled: false });
    await harness.backends.onApplicationShutdown();
    expect([openLinks(a), openLinks(b)]).toEqual([0, 0]);
  });
});
