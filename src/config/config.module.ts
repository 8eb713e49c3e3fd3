import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { ConfigModule as NestConfigModule, registerAs } from '@nestjs/config';
import { AdminSettings } from './admin-settings.js';
import { AuthSettings } from './auth-settings.js';
import { ConfigReloader, type ConfigSource } from './config-reloader.js';
import type { GatehouseConfig } from './gatehouse-config.js';
import { EgressProxies } from './egress-proxies.js';
import { HttpSettings } from './http-settings.js';
import { Limits } from './limits.js';
import { LogSettings } from './log-settings.js';
import { LiveConfig } from './live-config.js';
import { MetricsSettings } from './metrics-settings.js';
import { Naming } from './naming.js';
import { ReadinessSettings } from './readiness-settings.js';
import { ServersConfig } from './servers-config.js';
import { ShutdownSettings } from './shutdown-settings.js';
import { StartupSettings } from './startup-settings.js';
import { StateDir } from './state-dir.js';

/**
 * Provides each section of the configuration under its own injection token, so that a module injects only what it needs.
 */
@Module({})
export class ConfigModule {
  static forRoot(config: GatehouseConfig, source: ConfigSource): DynamicModule {
    const live = new LiveConfig(config);
    const sections = [
      { token: AdminSettings, load: registerAs('admin', () => config.admin) },
      { token: AuthSettings, load: registerAs('auth', () => config.auth) },
      { token: HttpSettings, load: registerAs('http', () => config.http) },
      { token: Limits, load: registerAs('limits', () => config.limits) },
      { token: LogSettings, load: registerAs('log', () => config.log) },
      { token: MetricsSettings, load: registerAs('metrics', () => config.metrics) },
      { token: Naming, load: registerAs('naming', () => config.naming) },
      { token: ReadinessSettings, load: registerAs('readiness', () => config.readiness) },
      { token: ServersConfig, load: registerAs('mcpServers', () => config.mcpServers) },
      { token: ShutdownSettings, load: registerAs('shutdown', () => config.shutdown) },
      { token: StartupSettings, load: registerAs('startup', () => config.startup) },
      { token: StateDir, load: registerAs('stateDir', () => new StateDir(config.stateDir).create()) },
    ];
    const providers: Provider[] = sections.map(({ token, load }) => ({
      provide: token,
      useExisting: load.KEY,
    }));
    return {
      module: ConfigModule,
      global: true,
      imports: [
        // Modules inject sections instead of ConfigService, so it is not global and does not read the process environment.
        NestConfigModule.forRoot({
          load: sections.map(({ load }) => load),
          ignoreEnvFile: true,
          ignoreEnvVars: true,
          skipProcessEnv: true,
        }),
      ],
      providers: [
        ...providers,
        { provide: LiveConfig, useValue: live },
        { provide: EgressProxies, useFactory: () => EgressProxies.ofProcess() },
        { provide: ConfigReloader, useFactory: () => new ConfigReloader(live, source) },
      ],
      exports: [LiveConfig, EgressProxies, ConfigReloader, ...sections.map(({ token }) => token)],
    };
  }
}
