import { describe, expect, it, jest } from '@jest/globals';
import { Registry } from 'prom-client';
import type { Backends } from '../backends/backends.service.js';
import type { GroupUsage } from '../backends/stdio/group-usage.js';
import { Metrics } from '../metrics/metrics.js';
import { ProcessUsage } from './process-usage.js';

function measured() {
  const backends: { id: string; pids: number[] }[] = [];
  const groups = new Map<number, GroupUsage>();
  const metrics = new Metrics(new Registry());
  let reads = 0;
  const read = (): Promise<ReadonlyMap<number, GroupUsage>> => {
    reads++;
    return Promise.resolve(groups);
  };
  new ProcessUsage(metrics, { all: () => backends } as unknown as Backends, read).onModuleInit();
  let now = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
  const scrape = async (): Promise<string[]> => {
    now += 10_000;
    const lines = (await metrics.text()).split('\n');
    return lines.filter((line) => /^gatehouse_backend_(memory|cpu)/.test(line)).map((line) => line.slice(18));
  };
  return { backends, groups, scrape, reads: () => reads, clock };
}

describe('ProcessUsage', () => {
  it('exposes memory and CPU time of all processes of a server, and reads them once per scrape', async () => {
    const { backends, groups, scrape, reads, clock } = measured();
    backends.push({ id: 'fs', pids: [1, 2] }, { id: 'web', pids: [] });
    groups.set(1, { residentBytes: 100, cpuSeconds: 2 }).set(2, { residentBytes: 50, cpuSeconds: 1 });
    expect(await scrape()).toEqual([
      'memory_bytes{server_id="fs"} 150',
      'cpu_seconds_total{server_id="fs"} 3',
    ]);
    expect(reads()).toBe(1);
    clock.mockRestore();
  });

  it('keeps the CPU time of ended processes, and drops removed servers', async () => {
    const { backends, groups, scrape, clock } = measured();
    backends.push({ id: 'fs', pids: [1] });
    groups.set(1, { residentBytes: 100, cpuSeconds: 2 });
    await scrape();
    backends[0]!.pids = [2];
    groups.set(2, { residentBytes: 10, cpuSeconds: 0.5 });
    expect(await scrape()).toEqual([
      'memory_bytes{server_id="fs"} 10',
      'cpu_seconds_total{server_id="fs"} 2.5',
    ]);
    backends[0]!.pids = [];
    expect(await scrape()).toEqual([
      'memory_bytes{server_id="fs"} 0',
      'cpu_seconds_total{server_id="fs"} 2.5',
    ]);
    backends.length = 0;
    expect(await scrape()).toEqual([]);
    clock.mockRestore();
  });

  it('never decreases the CPU time, also when a process has ended during the measurement', async () => {
    const { backends, groups, scrape, clock } = measured();
    backends.push({ id: 'fs', pids: [1] });
    groups.set(1, { residentBytes: 100, cpuSeconds: 2 });
    await scrape();
    groups.clear();
    expect(await scrape()).toEqual(['memory_bytes{server_id="fs"} 0', 'cpu_seconds_total{server_id="fs"} 2']);
    clock.mockRestore();
  });
});
