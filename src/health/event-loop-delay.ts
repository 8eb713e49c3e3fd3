import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';

const RESOLUTION_MS = 20;
const WINDOW_MS = 10_000;
const NS_PER_MS = 1e6;

/** Measures the delay of the event loop in windows of ten seconds. */
@Injectable()
export class EventLoopDelay implements OnModuleInit, OnModuleDestroy {
  private readonly histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  private timer: NodeJS.Timeout | undefined;
  /** The 99th percentile of the delays in the last complete window. */
  p99Ms = 0;

  onModuleInit(): void {
    this.histogram.enable();
    this.timer = setInterval(() => this.endWindow(), WINDOW_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
    this.histogram.disable();
  }

  private endWindow(): void {
    // The histogram records the time between two samples: the resolution plus the delay.
    this.p99Ms = Math.max(0, Math.round(this.histogram.percentile(99) / NS_PER_MS) - RESOLUTION_MS);
    this.histogram.reset();
  }
}
