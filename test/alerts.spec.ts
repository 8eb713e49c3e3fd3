import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

const expressions = (parse(readFileSync('docker/prometheus-rules.yaml', 'utf8')) as Rules).groups.flatMap(
  ({ rules }) => rules.map(({ expr }) => expr),
);
const dashboard = readFileSync('docker/grafana-dashboard.json', 'utf8');

describe('what operators have to notice', () => {
  it.each([
    'gatehouse_subscriptions_without_stream',
    'gatehouse_backend_memory_bytes',
    'gatehouse_backend_cpu_seconds_total',
    'gatehouse_backend_request_duration_seconds_bucket',
    'gatehouse_backend_failure_cause',
    'gatehouse_log_lines_suppressed_total',
    'gatehouse_overruled_changes_total',
    'gatehouse_unfinished_lists_total',
    'gatehouse_empty_scopes_total',
  ])('has an alert and a panel: %s', (metric) => {
    expect(expressions.some((expr) => expr.includes(metric))).toBe(true);
    expect(dashboard).toContain(metric);
  });

  it.each(['unauthorized', 'not-found', 'unreachable'])(
    'has an alert of its own for the cause of a remote server that is down: %s',
    (cause) => {
      const own = expressions.filter((expr) => expr.includes(`cause="${cause}"`));
      expect(own).toHaveLength(1);
    },
  );
});
