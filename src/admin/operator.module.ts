import { Logger, Module } from '@nestjs/common';
import { AdminSettings } from '../config/admin-settings.js';
import { StateDir } from '../config/state-dir.js';
import { ClientAddresses } from '../edge/client-addresses.js';
import { AdminTokens } from './admin-tokens.js';
import { FailedTokens } from './failed-tokens.js';
import { OperatorAccess } from './operator-access.js';

/** Authentication of operators. A module of its own because health and metrics use it too. */
@Module({
  providers: [
    ClientAddresses,
    FailedTokens,
    OperatorAccess,
    {
      provide: AdminTokens,
      inject: [AdminSettings, StateDir],
      useFactory: (settings: AdminSettings, { path }: StateDir) =>
        AdminTokens.open(settings, path, new Logger('Admin')),
    },
  ],
  exports: [FailedTokens, OperatorAccess, AdminTokens],
})
export class OperatorModule {}
