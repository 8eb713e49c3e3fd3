import { beforeEach, describe, expect, it } from '@jest/globals';
import { configOf, liveConfig } from '../../test/kit/config.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { MemoryDecisionStore } from '../../test/kit/memory-decision-store.js';
import { decideServer } from '../state/decisions.js';
import type { DecisionStamp, ServerDecision } from '../state/decision-store.js';
import type { LiveConfig } from '../config/live-config.js';
import { DesiredServers, type DesiredServer } from './desired-servers.js';

const stdio = (more: object = {}): object => ({ command: 'node', ...more });
const content = {
  mcpServers: { git: stdio(), db: stdio({ enabled: false, tools: { disabled: ['drop'] } }) },
};

describe('DesiredServers', () => {
  let live: LiveConfig;
  let decisionStore: MemoryDecisionStore;
  let desired: DesiredServers;
  let lines: string[];

  beforeEach(() => {
    lines = recordLog();
    live = liveConfig(content);
    decisionStore = new MemoryDecisionStore();
    desired = new DesiredServers(live, decisionStore);
  });

  const decide = (id: string, decision: ServerDecision): void =>
    void decisionStore.decide((decisions) =>
      decideServer(decisions, id, (before) => ({ ...before, ...decision })),
    );

  const server = (id: string): DesiredServer => desired.current.get(id)!;
  /** The deleted servers that were logged since the last call. */
  const takeLogged = (): unknown[] =>
    lines.splice(0).map((line) => (JSON.parse(line) as { servers: unknown }).servers);
  const ranks = (): [string, number][] => [...desired.current.values()].map(({ id, rank }) => [id, rank]);

  it('are, without decisions, the servers of the configuration in its order', () => {
    expect(ranks()).toEqual([
      ['git', 0],
      ['db', 1],
    ]);
    expect(server('git')).toMatchObject({ enabled: true, origin: 'config', disabledTools: new Set() });
    expect(server('db')).toMatchObject({ enabled: false, disabledTools: new Set(['drop']) });
    expect(server('db').config).toBe(live.current.mcpServers.get('db'));
  });

  it.each([true, false])('are enabled by the decision rather than the configuration: %s', (enabled) => {
    for (const id of ['git', 'db']) {
      decide(id, { enabled });
      expect(server(id).enabled).toBe(enabled);
    }
  });

  it('apply decisions about tools over the configuration', () => {
    decide('db', { tools: { drop: true, alter: false, select: true } });
    expect(server('db').disabledTools).toEqual(new Set(['alter']));
  });

  it('list added servers after those of the configuration', () => {
    decide('new', { definition: { command: 'deno', concurrency: 2 } });
    expect(ranks().at(-1)).toEqual(['new', 2]);
    expect(server('new')).toMatchObject({ origin: 'admin', enabled: true, config: { command: 'deno' } });
  });

  it('use a stored definition instead of the configured one, at the same rank', () => {
    decide('git', { definition: { command: 'deno' }, enabled: false });
    expect(server('git')).toMatchObject({ rank: 0, origin: 'admin', enabled: false });
    expect(server('git').config).toMatchObject({ command: 'deno' });
  });

  it('leave out deleted servers without a gap in the ranks', () => {
    decide('git', { removed: true });
    expect(ranks()).toEqual([['db', 0]]);
  });

  it('log at the start and at every reload which configured servers are deleted', () => {
    decide('git', { removed: true });
    expect(takeLogged()).toEqual([]);
    live.replace(configOf(content));
    expect(takeLogged()).toEqual([['git']]);
    live.replace(configOf({ mcpServers: { web: stdio() } }));
    expect(takeLogged()).toEqual([]);
    desired = new DesiredServers(liveConfig(content), decisionStore);
    expect(takeLogged()).toEqual([['git']]);
  });

  it('leave out and log an invalid stored definition, and keep the other servers', () => {
    decide('bad', { definition: { comand: 'x' } });
    decide('new', { definition: { command: 'deno' } });
    expect([...desired.current.keys()]).toEqual(['git', 'db', 'new']);
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(entries[0]).toMatchObject({
      level: 'error',
      message: 'a stored server cannot be used',
      server: 'bad',
      problem: expect.stringContaining('comand'),
    });
  });

  it('follow the file with the policy file, except for emergency switches', () => {
    decide('git', { removed: true });
    decide('db', { enabled: true, tools: { drop: true } });
    decide('new', { definition: { command: 'deno' } });
    live.replace(configOf({ ...content, decisions: { policy: 'file' } }));
    expect([...desired.current.keys()]).toEqual(['git', 'db', 'new']);
    expect(desired.isRemoved('git')).toBe(false);
    expect(server('db')).toMatchObject({ enabled: false, disabledTools: new Set(['drop']) });
    const at: DecisionStamp = { by: 'admin', at: '2026-11-18T09:00:00.000Z' };
    decisionStore.decide((decisions) => ({
      ...decideServer(decisions, 'git', () => ({ enabled: false, tools: { push: false, pull: false } })),
      stamps: new Map([
        ['server:git:enabled', { ...at, emergency: true }],
        ['tool:git:push', { ...at, emergency: true }],
        ['tool:git:pull', at],
      ]),
    }));
    expect(server('git')).toMatchObject({ enabled: false, disabledTools: new Set(['push']) });
  });

  it('drop a server that left the file and keep the decisions about it', () => {
    decide('git', { enabled: false });
    live.replace(configOf({}));
    expect([...desired.current.keys()]).toEqual([]);
    live.replace(configOf(content));
    expect(server('git').enabled).toBe(false);
  });

  it('call listeners after every change of configuration or decisions', () => {
    const changes: [boolean, string[]][] = [];
    const removeListener = desired.onChange((servers) =>
      changes.push([servers === desired.current, [...servers.keys()]]),
    );
    decide('git', { removed: true });
    live.replace(configOf({ mcpServers: { web: stdio() } }));
    removeListener();
    live.replace(configOf(content));
    expect(changes).toEqual([
      [true, ['db']],
      [true, ['web']],
    ]);
  });
});
