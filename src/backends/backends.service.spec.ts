import { beforeEach, describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { configOf, liveConfig } from '../../test/kit/config.js';
import { FakeClient } from '../../test/kit/fake-link.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { MemoryState } from '../../test/kit/memory-state.js';
import { ScriptedBackend, text } from '../../test/kit/scripted-backend.js';
import { deferred, until } from '../../test/kit/until.js';
import { decideServer } from '../state/decisions.js';
import type { ServerDecision } from '../state/decision-store.js';
import { Limits } from '../config/limits.js';
import { Naming } from '../config/naming.js';
import { EVERYTHING } from '../core/scope.js';
import { Tracing } from '../mcp/tracing.js';
import { Registry } from '../registry/registry.service.js';
import { Backends } from './backends.service.js';
import { DesiredServers } from './desired-servers.js';

/** The servers of a house; what they are is the spec's to decide, as the file or an administrator would. */
class House {
  readonly registry = new Registry(new Naming());
  readonly state = new MemoryState();
  readonly live;
  readonly backends: Backends;

  constructor(mcpServers: object) {
    this.live = liveConfig({ mcpServers });
    const desired = new DesiredServers(this.live, this.state);
    this.backends = new Backends(desired, new Naming(), new Limits(), this.registry, Tracing.OFF);
    onCleanup(() => this.backends.onApplicationShutdown());
    this.backends.onApplicationBootstrap();
  }

  reload(mcpServers: object): void {
    this.live.replace(configOf({ mcpServers }));
  }

  decide(id: string, decision: ServerDecision): void {
    this.state.decide((decisions) => decideServer(decisions, id, (before) => ({ ...before, ...decision })));
  }

  get tools(): string[] {
    const { text: page } = this.registry.catalog.tools
      .view(EVERYTHING)
      .page('tools', '', 100, (position) => position);
    return (JSON.parse(page) as { tools: { name: string }[] }).tools.map(({ name }) => name);
  }

  lists(...tools: string[]): Promise<unknown> {
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

const openLinks = (backend: ScriptedBackend): number => backend.links.filter(({ isOpen }) => isOpen).length;

describe('Backends', () => {
  let a: ScriptedBackend;
  let b: ScriptedBackend;

  beforeEach(async () => {
    recordLog();
    [a, b] = await Promise.all([ScriptedBackend.start(), ScriptedBackend.start()]);
    for (const backend of [a, b]) backend.tool('t', () => text('done')).tool('u', () => text('done'));
  });

  async function bothListed(): Promise<House> {
    const house = new House({ a: a.http, b: b.http });
    await house.lists('a__t', 'a__u', 'b__t', 'b__u');
    return house;
  }

  it('are those that are enabled', async () => {
    const house = new House({ a: a.http, b: { ...b.http, enabled: false } });
    await house.lists('a__t', 'a__u');
    expect([...house.backends.all()].map(({ id }) => id)).toEqual(['a']);
    expect(house.backends.find('b')).toBeUndefined();
    expect(() => house.backends.get('b')).toThrow(expect.objectContaining({ kind: 'server-unavailable' }));
    expect(b.links).toEqual([]);
  });

  it('come and go with the decisions, at once, and the others keep their link', async () => {
    const house = await bothListed();
    house.decide('a', { enabled: false });
    expect(house.tools).toEqual(['b__t', 'b__u']);
    await until('its link is closed', () => openLinks(a) === 0);
    house.decide('a', { enabled: true });
    await house.lists('a__t', 'a__u', 'b__t', 'b__u');
    expect([a.links.length, b.links.length]).toEqual([2, 1]);
  });

  it('come and go with the file', async () => {
    const house = new House({ a: a.http });
    await house.lists('a__t', 'a__u');
    house.reload({ b: b.http });
    expect(house.tools).toEqual([]);
    await house.lists('b__t', 'b__u');
    await until('the other is let go', () => openLinks(a) === 0);
  });

  it.each([
    ['enabled, said aloud', { enabled: true }],
    ['concurrency', { concurrency: 1 }],
    ['queue', { queue: 1 }],
    ['timeoutMs', { timeoutMs: 777 }],
    ['disabled tools', { tools: { disabled: ['x'] } }],
    ['exclusive tools', { tools: { exclusive: ['t'] } }],
    ['naming', { naming: { tools: 'conflict' } }],
    ['watch', { watch: { pollMs: 5000, coalesceMs: 100 } }],
  ])('keep their link when only this changes: %s', async (_what, change) => {
    const house = await bothListed();
    const before = house.backends.find('a');
    house.reload({ a: { ...a.http, ...change }, b: b.http });
    expect(house.backends.find('a')).toBe(before);
    expect(house.backends.find('a')!.config).toBe(house.live.current.mcpServers.get('a'));
    expect(await house.call('a')).toEqual(text('done'));
    expect([a.links.length, b.links.length]).toEqual([1, 1]);
  });

  it.each([
    ['headers', { headers: { 'x-key': '1' } }],
    ['isolation', { isolation: 'exclusive' }],
  ])('get another link when this changes, and no other server does: %s', async (_what, change) => {
    const house = await bothListed();
    house.reload({ a: { ...a.http, ...change }, b: b.http });
    await house.lists('a__t', 'a__u', 'b__t', 'b__u');
    await until('the old link is closed', () => openLinks(a) === 1 && a.links.length === 2);
    expect(b.links).toHaveLength(1);
  });

  it('lose and get back a tool at once, without being asked', async () => {
    const house = await bothListed();
    house.decide('a', { tools: { t: false } });
    expect(house.tools).toEqual(['a__u', 'b__t', 'b__u']);
    house.decide('a', { tools: { t: true } });
    expect(house.tools).toEqual(['a__t', 'a__u', 'b__t', 'b__u']);
    expect(a.countOf('tools/list')).toBe(1);
  });

  it('take their names from the order of the file, also when only that changes', async () => {
    const never = { naming: { tools: 'never' } };
    const house = new House({ a: { ...a.http, ...never }, b: { ...b.http, ...never } });
    await house.lists('t', 'u');
    await until('the tools of both are known', () =>
      house.registry.catalog.servers.every(
        ({ listing }, _n, all) => all.length === 2 && listing.tools.length > 0,
      ),
    );
    const owner = () => house.registry.catalog.tools.view(EVERYTHING).find('t')?.server;
    expect(owner()).toBe('a');
    house.reload({ b: { ...b.http, ...never }, a: { ...a.http, ...never } });
    expect(owner()).toBe('b');
  });

  it('finish what they had begun when they are disabled, and take nothing new', async () => {
    const gate = deferred();
    a.tool('t', async () => {
      await gate.promise;
      return text('late');
    });
    const house = await bothListed();
    const backend = house.backends.get('a');
    const running = house.call('a');
    await until('the call has arrived', () => a.inFlight === 1);
    house.decide('a', { enabled: false });
    await expect(
      backend.call({ method: 'tools/call', params: '{"name":"u"}', caller: new FakeClient('b').call() }),
    ).rejects.toMatchObject({ kind: 'server-unavailable' });
    expect(openLinks(a)).toBe(1);
    gate.resolve();
    expect(await running).toEqual(text('late'));
    await until('the link is closed', () => openLinks(a) === 0);
  });

  it('are asked to log as they were before they changed, also those that come later', async () => {
    const house = new House({ a: a.http });
    await house.lists('a__t', 'a__u');
    house.backends.setLogLevel('debug');
    house.reload({ a: a.http, b: b.http });
    const { message } = await b.heard('logging/setLevel');
    expect(message.params).toEqual({ level: 'debug' });
    expect(a.countOf('logging/setLevel')).toBe(1);
  });

  it('tell what they say and how they are, until nobody listens any more', async () => {
    const house = await bothListed();
    const heard: string[] = [];
    const states: string[] = [];
    const leave = house.backends.onNotification((id, { method }) => heard.push(`${id} ${method}`));
    const leaveStates = house.backends.onStateChange((backend) => states.push(backend.id));
    a.announce('notifications/message', { level: 'info', data: 1 });
    await until('it is heard', () => heard.length === 1);
    expect(heard).toEqual(['a notifications/message']);
    house.decide('b', { enabled: false });
    await until('its end is told', () => states.includes('b'));
    leave();
    leaveStates();
    a.announce('notifications/message', { level: 'info', data: 2 });
    await house.call('a');
    expect(heard).toHaveLength(1);
  });

  it('are all gone after the end, those that were retiring too', async () => {
    const house = await bothListed();
    house.decide('a', { enabled: false });
    await house.backends.onApplicationShutdown();
    expect([openLinks(a), openLinks(b)]).toEqual([0, 0]);
  });
});
