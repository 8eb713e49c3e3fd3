import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { Metrics } from './metrics.js';

const countsIn = (text: string): string[] =>
  text.split('\n').filter((line) => line.startsWith('gatehouse_backend_request_duration_seconds_count'));

describe('ServerDurations', () => {
  it('has series of known servers only, by outcome', async () => {
    const metrics = new Metrics(new Registry());
    let known = ['a', 'b'];
    metrics.removeUnknownServersAtScrape((server) => known.includes(server));
    metrics.serverDurations.observe('a', 'ok', 0.1);
    metrics.serverDurations.observe('a', 'error', 0.1);
    metrics.serverDurations.observe('b', 'ok', 0.1);
    const name = 'gatehouse_backend_request_duration_seconds_count';
    expect(countsIn(await metrics.text())).toEqual([
      `${name}{server_id="a",outcome="ok"} 1`,
      `${name}{server_id="a",outcome="error"} 1`,
      `${name}{server_id="b",outcome="ok"} 1`,
    ]);
    known = ['b'];
    expect(countsIn(await metrics.text())).toEqual([`${name}{server_id="b",outcome="ok"} 1`]);
    known = ['a', 'b'];
    metrics.serverDurations.observe('a', 'ok', 0.1);
    expect(countsIn(await metrics.text())).toContain(`${name}{server_id="a",outcome="ok"} 1`);
  });
});
