import { Module, type DynamicModule } from '@nestjs/common';
import { AdminModule } from './admin/admin.module.js';
import { OperatorModule } from './admin/operator.module.js';
import { StateModule } from './state/state.module.js';
import type { ConfigSource } from './config/config-reloader.js';
import { BackendsModule } from './backends/backends.module.js';
import { ConfigModule } from './config/config.module.js';
import type { GatehouseConfig } from './config/gatehouse-config.js';
import { DecisionsModule } from './decisions/decisions.module.js';
import { StateDir } from './config/state-dir.js';
import { CompletionModule } from './completion/completion.module.js';
import { MetaToolsModule } from './meta-tools/meta-tools.module.js';
import { AuthModule } from './edge/auth/auth.module.js';
import { EdgeModule } from './edge/edge.module.js';
import { HealthModule } from './health/health.module.js';
import { MetricsEndpointModule } from './health/metrics-endpoint.module.js';
import { McpModule } from './mcp/mcp.module.js';
import { Tracing } from './mcp/tracing.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { ProjectsModule } from './projects/projects.module.js';
import { PromptsModule } from './prompts/prompts.module.js';
import { RegistryModule } from './registry/registry.module.js';
import { ResourcesModule } from './resources/resources.module.js';
import { StartPageModule } from './start-page/start-page.module.js';
import { SubscriptionsModule } from './subscriptions/subscriptions.module.js';
import { ToolsModule } from './tools/tools.module.js';

/** Imports every module of the gateway, from the lowest layer up. */
@Module({})
export class AppModule {
  static forRoot(config: GatehouseConfig, source: ConfigSource, tracing = Tracing.OFF): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(config, source),
        StateModule.forDirectory(StateDir),
        MetricsModule,
        McpModule.forRoot(tracing),
        DecisionsModule,
        RegistryModule,
        BackendsModule,
        ProjectsModule,
        ToolsModule,
        PromptsModule,
        ResourcesModule,
        SubscriptionsModule,
        CompletionModule,
        MetaToolsModule,
        AuthModule,
        EdgeModule,
        OperatorModule,
        AdminModule,
        HealthModule,
        MetricsEndpointModule,
        StartPageModule,
      ],
    };
  }
}
