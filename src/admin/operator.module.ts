import { Logger, Module } from '@nestjs/common';
import { AdminSettings } from '../config/admin-settings.js';
import { StateDir } from '../config/state-dir.js';
import { ClientAddresses } from '../edge/client-addresses.js';
import { AdminTokens } from './admin-tokens.js';
import { FailedTokens } from './failed-tokens.js';
import { OperatorAccess } from './operator-access.js';

/** Authentication of operators. It is not a part of `AdminModule`, because the health and metrics endpoints use it too. */
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
