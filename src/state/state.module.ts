import { Logger, Module, type DynamicModule, type OnApplicationShutdown, type Type } from '@nestjs/common';
import { DesiredState } from './decision-store.js';
import { DirectoryLock } from './directory-lock.js';
import { FileDesiredState } from './file-decision-store.js';
import { FileSessionRecords } from './file-session-records.js';
import { SessionRecords } from './session-records.js';

/** What replicas share. For now there is one, and it keeps the directory to itself. */
@Module({})
export class ClusterModule implements OnApplicationShutdown {
  constructor(
    private readonly state: DesiredState,
    private readonly sessions: SessionRecords,
    private readonly lock: DirectoryLock,
  ) {}

  /** `directory` is the token of whatever knows the path; this room asks nothing else of the config. */
  static inDirectory(directory: Type<{ readonly path: string }>): DynamicModule {
    return {
      module: ClusterModule,
      global: true,
      providers: [
        {
          provide: DirectoryLock,
          inject: [directory],
          useFactory: ({ path }: { path: string }) => new DirectoryLock(path),
        },
        {
          provide: DesiredState,
          inject: [directory, DirectoryLock],
          useFactory: ({ path }: { path: string }, lock: DirectoryLock) =>
            FileDesiredState.open(path, lock, new Logger('State')),
        },
        {
          provide: SessionRecords,
          // The state comes first: a gateway that may not use the directory does not start.
          inject: [directory, DirectoryLock, DesiredState],
          useFactory: ({ path }: { path: string }, lock: DirectoryLock) =>
            FileSessionRecords.open(path, lock, new Logger('Sessions')),
        },
      ],
      exports: [DesiredState, SessionRecords, DirectoryLock],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.state.close();
    await this.sessions.close();
    await this.lock.release();
  }
}
