import { Logger, Module } from '@nestjs/common';
import { AdminSettings } from '../config/admin-settings.js';
import { StateDir } from '../config/state-dir.js';
import { AdminToken } from './admin-token.js';
import { OperatorAccess } from './operator-access.js';

/** Authentication of operators. A module of its own because health and metrics use it too. */
@Module({
  providers: [
    OperatorAccess,
    {
      provide: AdminToken,
      inject: [AdminSettings, StateDir],
      useFactory: (settings: AdminSettings, { path }: StateDir) =>
        AdminToken.open(settings, path, new Logger('Admin')),
    },
  ],
  exports: [OperatorAccess, AdminToken],
})
export class OperatorModule {}
