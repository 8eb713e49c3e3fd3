import { Injectable, Optional, type OnModuleInit } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';
import { readGroupUsage } from '../backends/stdio/group-usage.js';
import { Metrics, type Reading } from '../metrics/metrics.js';

/** For this long a measurement is used again, so that both metrics of one scrape share it. */
const MAX_AGE_MS = 1000;

interface ServerUsage {
  residentBytes: number;
  /** Sum of the CPU time of processes that have ended. */
  endedSeconds: number;
  /** By process id: CPU time at the last measurement. */
  readonly seconds: Map<number, number>;
}

/** Memory and CPU time of the processes of stdio servers, measured at a scrape. */
@Injectable()
export class ProcessUsage implements OnModuleInit {
  private readonly servers = new Map<string, ServerUsage>();
  private measuredAt = -Infinity;
  private measurement: Promise<void> = Promise.resolve();

  constructor(
    private readonly metrics: Metrics,
    private readonly backends: Backends,
    @Optional() private readonly read: typeof readGroupUsage = readGroupUsage,
  ) {}

  onModuleInit(): void {
    const memory = {
      type: 'gauge',
      name: 'gatehouse_backend_memory_bytes',
      labelNames: ['server_id'],
    } as const;
    this.metrics.expose(
      { ...memory, help: 'Resident memory of the processes of a stdio server, their children included.' },
      () => this.readings(({ residentBytes }) => residentBytes),
    );
    const cpu = {
      type: 'counter',
      name: 'gatehouse_backend_cpu_seconds_total',
      labelNames: ['server_id'],
    } as const;
    this.metrics.expose(
      { ...cpu, help: 'CPU time of the processes of a stdio server, their children included.' },
      () => this.readings(({ endedSeconds, seconds }) => sum(seconds.values(), endedSeconds)),
    );
  }

  private async readings(valueOf: (usage: ServerUsage) => number): Promise<Reading> {
    const now = performance.now();
    if (now - this.measuredAt >= MAX_AGE_MS) {
      this.measuredAt = now;
      this.measurement = this.measure();
    }
    await this.measurement;
    return Array.from(this.servers, ([server, usage]) => [{ server_id: server }, valueOf(usage)]);
  }

  private async measure(): Promise<void> {
    const processes = new Map(Array.from(this.backends.all(), ({ id, pids }) => [id, pids]));
    const usage = await this.read(new Set([...processes.values()].flat()));
    for (const server of this.servers.keys()) if (!processes.has(server)) this.servers.delete(server);
    for (const [server, pids] of processes) {
      const known = this.servers.get(server) ?? { residentBytes: 0, endedSeconds: 0, seconds: new Map() };
      for (const [pid, seconds] of known.seconds)
        if (!pids.includes(pid)) {
          known.endedSeconds += seconds;
          known.seconds.delete(pid);
        }
      for (const pid of pids) {
        const seconds = usage.get(pid)?.cpuSeconds ?? 0;
        known.seconds.set(pid, Math.max(seconds, known.seconds.get(pid) ?? 0));
      }
      known.residentBytes = sum(pids.map((pid) => usage.get(pid)?.residentBytes ?? 0));
      if (pids.length > 0 || this.servers.has(server)) this.servers.set(server, known);
    }
  }
}

const sum = (values: Iterable<number>, initial = 0): number =>
  [...values].reduce((total, value) => total + value, initial);
