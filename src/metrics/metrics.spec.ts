import { describe, expect, it } from '@jest/globals';
import { Scrape } from '../../test/kit/scrape.js';
import { Metrics } from './metrics.js';
import { notificationKind } from '../core/notification-kind.js';

const scrape = async (metrics: Metrics): Promise<Scrape> => new Scrape(await metrics.text());

describe('Metrics', () => {
  it('observes requests by method and outcome, without a label for methods that have no handler', async () => {
    const metrics = new Metrics();
    metrics.observeRequest('tools/call', true, 'ok', 0.2);
    metrics.observeRequest('tools/call', true, 'ok', 0.3);
    metrics.observeRequest('made/up', false, 'error', 0.001);
    const now = await scrape(metrics);
    const labels = { method: 'tools/call', outcome: 'ok' };
    expect(now.value('mcp_request_duration_seconds_count', labels)).toBe(2);
    expect(now.value('mcp_request_duration_seconds_sum', labels)).toBeCloseTo(0.5);
    expect(now.value('mcp_request_duration_seconds_bucket', { ...labels, le: '0.25' })).toBe(1);
    expect(now.value('mcp_request_duration_seconds_count', { method: '_other', outcome: 'error' })).toBe(1);
    expect(JSON.stringify(now.samples)).not.toContain('made/up');
  });

  it('exposes the same value at every scrape', async () => {
    const metrics = new Metrics();
    metrics.countToolCall('s', 'ok');
    await scrape(metrics);
    expect((await scrape(metrics)).value('mcp_tool_calls_total', { server_id: 's', outcome: 'ok' })).toBe(1);
  });

  it('exposes every bounded series from the start with the value zero', async () => {
    const now = await scrape(new Metrics());
    expect(now.value('gatehouse_auth_failures_total', { reason: 'expired' })).toBe(0);
    expect(now.value('gatehouse_stream_closes_total', { reason: 'stuck' })).toBe(0);
    expect(now.value('mcp_notifications_total', { kind: 'resources/updated', outcome: 'dropped' })).toBe(0);
    expect(now.value('mcp_subscription_events_total', { outcome: 'written' })).toBe(0);
  });

  it('exposes what was counted', async () => {
    const metrics = new Metrics();
    metrics.countNotification('progress', 'coalesced');
    metrics.countStreamEnd('stuck');
    metrics.countAuthFailure('expired');
    metrics.countAuditFailure();
    metrics.countUnsentUpdate('unheard');
    const now = await scrape(metrics);
    expect(now.value('mcp_notifications_total', { kind: 'progress', outcome: 'coalesced' })).toBe(1);
    expect(now.value('gatehouse_stream_closes_total', { reason: 'stuck' })).toBe(1);
    expect(now.value('gatehouse_auth_failures_total', { reason: 'expired' })).toBe(1);
    expect(now.value('gatehouse_audit_write_failures_total')).toBe(1);
    expect(now.value('mcp_subscription_events_total', { outcome: 'unheard' })).toBe(1);
  });

  it('counts the updates that are written or redelivered to clients as subscription events', async () => {
    const metrics = new Metrics();
    for (const outcome of ['written', 'redelivered', 'redelivered', 'coalesced', 'dropped'] as const)
      metrics.countNotification('resources/updated', outcome);
    metrics.countNotification('progress', 'written');
    const now = await scrape(metrics);
    const counts = ['written', 'redelivered', 'coalesced', 'unheard'].map((outcome) =>
      now.value('mcp_subscription_events_total', { outcome }),
    );
    expect(counts).toEqual([1, 2, 0, 0]);
  });

  it('removes the series of unknown servers, also when one of their calls ends later', async () => {
    const metrics = new Metrics();
    const servers = new Set(['stays', 'goes']);
    metrics.removeUnknownServersAtScrape((server) => servers.has(server));
    for (const server of servers) {
      metrics.countToolCall(server, 'ok');
      metrics.countResourceRead(server, 'text/plain', 'ok');
    }
    servers.delete('goes');
    for (let i = 0; i < 2; i++) {
      const now = await scrape(metrics);
      expect(now.seriesOf('mcp_tool_calls_total')).toEqual([{ server_id: 'stays', outcome: 'ok' }]);
      expect(now.seriesOf('mcp_resource_reads_total')).toHaveLength(1);
      metrics.countToolCall('goes', 'ok');
    }
  });

  it('exposes resource reads under the alias as success or failure', async () => {
    const metrics = new Metrics();
    metrics.exposeResourceReadsAlias();
    metrics.countResourceRead('db', 'text/plain; charset=utf-8', 'ok');
    metrics.countResourceRead('db', 'text/plain', 'ok');
    metrics.countResourceRead('db', undefined, 'timeout');
    metrics.countResourceRead('db', undefined, 'error');
    const now = await scrape(metrics);
    const canonical = now.samples.filter(({ name }) => name === 'mcp_resource_reads_total');
    const alias = now.samples.filter(({ name }) => name === 'mcpResourceReadsTotal');
    expect(canonical.map(({ labels, value }) => [...Object.values(labels), value])).toEqual([
      ['db', 'text/plain', 'ok', 2],
      ['db', '_none', 'timeout', 1],
      ['db', '_none', 'error', 1],
    ]);
    expect(alias.map(({ labels, value }) => [...Object.values(labels), value])).toEqual([
      ['db', 'text/plain', 'success', 2],
      ['db', '_none', 'failure', 2],
    ]);
    expect(Object.keys(alias[0]!.labels)).toEqual(['serverId', 'mimeType', 'status']);
  });

  it('reads exposed values at every scrape', async () => {
    const metrics = new Metrics();
    const sizes = new Map([['a', 1]]);
    const family = { name: 'gatehouse_size', help: 'A size.', labelNames: ['of'] };
    metrics.expose({ type: 'gauge', ...family }, () => Array.from(sizes, ([of, size]) => [{ of }, size]));
    expect((await scrape(metrics)).seriesOf('gatehouse_size')).toEqual([{ of: 'a' }]);
    sizes.delete('a');
    expect((await scrape(metrics)).seriesOf('gatehouse_size')).toEqual([]);
  });

  it("follows Prometheus' naming rules", async () => {
    const metrics = new Metrics();
    metrics.countToolCall('s', 'ok');
    metrics.countResourceRead('s', 'a/b', 'ok');
    metrics.observeRequest('ping', true, 'ok', 0.1);
    expect((await scrape(metrics)).problems()).toEqual([]);
  });
});

describe('notificationKind', () => {
  it.each([
    ['notifications/tools/list_changed', 'tools/list_changed'],
    ['notifications/resources/updated', 'resources/updated'],
    ['notifications/message', 'message'],
    ['notifications/progress', 'progress'],
    ['notifications/made/up', '_other'],
    ['message', '_other'],
  ])('maps %s to %s', (method, kind) => {
    expect(notificationKind(method)).toBe(kind);
  });
});
