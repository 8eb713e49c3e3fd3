import { Module, type DynamicModule } from '@nestjs/common';
import { ClusterModule } from './cluster/cluster.module.js';
import type { ConfigSource } from './config/config-reloader.js';
import { ConfigModule } from './config/config.module.js';
import type { GatehouseConfig } from './config/gatehouse-config.js';
import { StateDir } from './config/state-dir.js';
import { EdgeModule } from './edge/edge.module.js';
import { HealthModule } from './health/health.module.js';
import { PromptsModule } from './prompts/prompts.module.js';
import { ToolsModule } from './tools/tools.module.js';

/** The one place that names every room. */
@Module({})
export class AppModule {
  static with(config: GatehouseConfig, source: ConfigSource): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(config, source),
        ClusterModule.inDirectory(StateDir),
        ToolsModule,
        PromptsModule,
        EdgeModule,
        HealthModule,
      ],
    };
  }
}
