import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';

const FIRST_SYNC_TIMEOUT_MS = 30_000;

/** Knows whether the start is complete: every server has finished its first sync, has failed, or took too long. */
@Injectable()
export class StartupProgress implements OnApplicationBootstrap {
  /** Once true, it stays true. */
  isComplete = false;
  /** Resolves when `isComplete` becomes true. Undefined until the application starts. */
  whenComplete: Promise<void> | undefined;

  constructor(private readonly backends: Backends) {}

  /** Nest calls this after `Backends.onApplicationBootstrap`, which creates the backends. */
  onApplicationBootstrap(): void {
    this.whenComplete = this.waitForServers();
  }

  private async waitForServers(): Promise<void> {
    await Promise.all(
      Array.from(this.backends.all(), (backend) => backend.whenSynced(FIRST_SYNC_TIMEOUT_MS)),
    );
    this.isComplete = true;
  }
}
