import { Injectable, Optional, type OnModuleInit } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';
import { readGroupUsage } from '../backends/stdio/group-usage.js';
import { Metrics, type Reading } from '../metrics/metrics.js';

/** How long a measurement is reused, so that both metrics of one scrape come from the same measurement. */
const MAX_AGE_MS = 1000;

/** Usage of all processes of one server. */
interface ServerUsage {
  residentBytes: number;
  /** Total CPU time of the processes that have ended. */
  endedCpuSeconds: number;
  /** By process id: CPU time of each running process at the last measurement. */
  readonly cpuSeconds: Map<number, number>;
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
      () => this.readings(({ endedCpuSeconds, cpuSeconds }) => sum(cpuSeconds.values(), endedCpuSeconds)),
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
    const pidsByServer = new Map(Array.from(this.backends.all(), ({ id, pids }) => [id, pids]));
    const usageByPid = await this.read(new Set([...pidsByServer.values()].flat()));
    for (const server of this.servers.keys()) if (!pidsByServer.has(server)) this.servers.delete(server);
    for (const [server, pids] of pidsByServer) {
      const usage = this.servers.get(server) ?? noUsage();
      for (const [pid, seconds] of usage.cpuSeconds)
        if (!pids.includes(pid)) {
          usage.endedCpuSeconds += seconds;
          usage.cpuSeconds.delete(pid);
        }
      for (const pid of pids) {
        const seconds = usageByPid.get(pid)?.cpuSeconds ?? 0;
        // A counter must not decrease, for example when a process has ended during the measurement.
        usage.cpuSeconds.set(pid, Math.max(seconds, usage.cpuSeconds.get(pid) ?? 0));
      }
      usage.residentBytes = sum(pids.map((pid) => usageByPid.get(pid)?.residentBytes ?? 0));
      if (pids.length > 0) this.servers.set(server, usage);
    }
  }
}

const noUsage = (): ServerUsage => ({ residentBytes: 0, endedCpuSeconds: 0, cpuSeconds: new Map() });

const sum = (values: Iterable<number>, initial = 0): number =>
  [...values].reduce((total, value) => total + value, initial);
