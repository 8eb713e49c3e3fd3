import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { AuthSettings } from '../../config/auth-settings.js';
import { isRevokedKey } from '../../decisions/effective-decisions.js';
import { Metrics } from '../../metrics/metrics.js';
import { DecisionStore } from '../../state/decision-store.js';
import { Authenticator } from './authenticator.js';
import { ProtectedResourceController } from './protected-resource.controller.js';
import { OpenAccessWarning } from './open-access-warning.js';

@Module({
  controllers: [ProtectedResourceController],
  providers: [
    OpenAccessWarning,
    {
      provide: Authenticator,
      useFactory: (settings: AuthSettings, decisions: DecisionStore, metrics: Metrics) =>
        new Authenticator(settings, Date.now, metrics, (key) => isRevokedKey(key, decisions.current)),
      inject: [AuthSettings, DecisionStore, Metrics],
    },
  ],
  exports: [Authenticator],
})
export class AuthModule implements OnApplicationBootstrap {
  constructor(private readonly authenticator: Authenticator) {}

  /** Does not wait, so that the gateway starts even if the issuer is unreachable. */
  onApplicationBootstrap(): void {
    void this.authenticator.prepare();
  }
}
