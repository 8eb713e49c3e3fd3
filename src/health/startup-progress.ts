import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';

/** A server that has not answered by then does not keep the rest waiting. */
const LONGEST_MS = 30_000;

/** Whether every server has been asked what it offers, whatever came of it. Once true, it stays so. */
@Injectable()
export class StartupProgress implements OnApplicationBootstrap {
  isComplete = false;

  constructor(private readonly backends: Backends) {}

  /** Servers are launched before: the room below is started first. */
  onApplicationBootstrap(): void {
    void this.watch();
  }

  private async watch(): Promise<void> {
    await Promise.all(Array.from(this.backends.all(), (backend) => backend.whenSynced(LONGEST_MS)));
    this.isComplete = true;
  }
}
