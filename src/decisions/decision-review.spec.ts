import { beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { configOf, liveConfig } from '../../test/kit/config.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { MemoryDecisionStore } from '../../test/kit/memory-decision-store.js';
import { flushPromises } from '../../test/kit/promises.js';
import { LiveConfig } from '../config/live-config.js';
import { Metrics } from '../metrics/metrics.js';
import { decisionItems } from '../state/decision-items.js';
import { decideKey, decideProject, decideServer } from '../state/decisions.js';
import type { ServerDecision } from '../state/decision-store.js';
import { DecisionReview } from './decision-review.js';

const HASH = `sha256:${'a'.repeat(64)}`;
const FILE = {
  mcpServers: { git: { command: 'node' }, db: { command: 'node', enabled: false } },
  projects: { p: { servers: ['git'] } },
  auth: { apiKeys: [{ id: 'ci', hash: HASH, projects: ['p'] }] },
};
const POLICY_FILE = { decisions: { policy: 'file' } };

describe('DecisionReview', () => {
  let live: LiveConfig;
  let store: MemoryDecisionStore;
  let metrics: Metrics;
  let review: DecisionReview;
  let lines: string[];

  const start = (file: object = FILE): void => {
    live = liveConfig(file);
    metrics = new Metrics(new Registry());
    review = new DecisionReview(live, store, metrics);
  };

  beforeEach(() => {
    lines = recordLog();
    store = new MemoryDecisionStore();
    start();
  });

  const decide = (id: string, decision: ServerDecision): void =>
    void store.decide(
      review.complete((all) => decideServer(all, id, (before) => ({ ...before, ...decision })), 'admin'),
    );
  const ids = (): string[] => decisionItems(store.current).map(({ id }) => id);
  const effects = (): unknown[] =>
    review.all().map(({ id, effect, overrules, emergency }) => [id, effect, overrules, emergency]);
  const logged = (): { message: string; decisions: string[] }[] =>
    lines.splice(0).map((line) => JSON.parse(line) as { message: string; decisions: string[] });
  const metric = async (name: string): Promise<string | undefined> =>
    (await metrics.text())
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1];

  it('drops a decision that returns to the value of the file', () => {
    decide('git', { enabled: false });
    decide('git', { enabled: true });
    expect(ids()).toEqual([]);
    expect([...store.current.stamps]).toEqual([]);
  });

  it('drops decisions that equal the file at the start and at a reload, with a log line', async () => {
    store.decide((all) => decideServer(all, 'git', () => ({ enabled: true })));
    start();
    review.onApplicationBootstrap();
    await flushPromises();
    expect(ids()).toEqual([]);
    decide('git', { enabled: false });
    live.replace(configOf({ ...FILE, mcpServers: { git: { command: 'node', enabled: false } } }));
    await flushPromises();
    expect(ids()).toEqual([]);
    expect(logged().map(({ decisions }) => decisions)).toEqual([
      ['server:git:enabled'],
      ['server:git:enabled'],
    ]);
  });

  it('logs that a decision cannot be dropped while the state cannot be written', async () => {
    store.decide((all) => decideServer(all, 'git', () => ({ enabled: true })));
    store.isBroken = true;
    review.onApplicationBootstrap();
    await flushPromises();
    expect(logged()).toEqual([
      expect.objectContaining({ level: 'warn', cause: expect.stringContaining('disk') }),
    ]);
  });

  it('shows who decided, and when', () => {
    decide('git', { enabled: false, tools: { drop: false } });
    const [server] = review.ofServer('git');
    expect(server).toMatchObject({
      id: 'server:git:enabled',
      change: 'disabled',
      by: 'admin',
      at: expect.any(String),
    });
    expect(review.ofTools('git').get('drop')).toMatchObject({ change: 'disabled', by: 'admin' });
  });

  it('names the decisions that overrule the file, and those without effect', () => {
    decide('git', { enabled: false });
    decide('added', { definition: { command: 'node' } });
    decide('gone', { tools: { x: false } });
    store.decide((all) => decideProject(all, 'p', { servers: [] }));
    store.decide((all) => decideProject(all, 'q', { removed: true }));
    store.decide((all) => decideKey(all, 'ci', { revoked: [HASH] }));
    store.decide((all) => decideKey(all, 'old', { revoked: [HASH] }));
    expect(effects()).toEqual([
      ['server:git:enabled', 'applied', true, false],
      ['server:added:definition', 'applied', false, false],
      ['tool:gone:x', 'unused', false, false],
      ['project:p', 'applied', true, false],
      ['project:q', 'unused', false, false],
      ['key:ci', 'applied', true, false],
      ['key:old', 'unused', false, false],
    ]);
    expect(review.overruling()).toEqual(['server:git:enabled', 'project:p', 'key:ci']);
  });

  it('logs and counts changes of the file that a decision overrules, and no others', async () => {
    decide('git', { definition: { command: 'deno' } });
    decide('db', { enabled: true });
    live.replace(configOf({ ...FILE, projects: {} }));
    expect(logged()).toEqual([]);
    live.replace(configOf({ ...FILE, mcpServers: { ...FILE.mcpServers, git: { command: 'bun' } } }));
    expect(logged()).toEqual([
      expect.objectContaining({ level: 'warn', decisions: ['server:git:definition'] }),
    ]);
    expect(await metric('gatehouse_overruled_changes_total')).toBe('1');
    expect(await metric('gatehouse_decisions{effect="overruling"}')).toBe('2');
  });

  it('ignores and logs earlier decisions about what the file defines with the policy file', () => {
    decide('git', { enabled: false, tools: { drop: false } });
    decide('added', { definition: { command: 'node' } });
    store.decide((all) => decideProject(all, 'p', { servers: [] }));
    store.decide((all) => decideKey(all, 'ci', { revoked: [HASH] }));
    live.replace(configOf({ ...FILE, ...POLICY_FILE }));
    expect(effects()).toEqual([
      ['server:git:enabled', 'ignored', false, false],
      ['tool:git:drop', 'ignored', false, false],
      ['server:added:definition', 'applied', false, false],
      ['project:p', 'ignored', false, false],
      ['key:ci', 'applied', true, true],
    ]);
    expect(logged().at(-1)).toMatchObject({
      message: 'decisions are ignored, because decisions.policy is file',
      decisions: ['server:git:enabled', 'tool:git:drop', 'project:p'],
    });
  });

  it('marks what is switched off with the policy file as an emergency switch', () => {
    start({ ...FILE, ...POLICY_FILE });
    decide('git', { enabled: false });
    expect(effects()).toEqual([['server:git:enabled', 'applied', true, true]]);
    live.replace(configOf(FILE));
    expect(effects()).toEqual([['server:git:enabled', 'applied', true, false]]);
  });
});
