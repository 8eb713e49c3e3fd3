import { Module, type DynamicModule, type INestApplication } from '@nestjs/common';
import type { AsyncMicroserviceOptions } from '@nestjs/microservices';
import { FanOut } from './fan-out.js';
import { McpDispatcher } from './mcp.dispatcher.js';
import { Tracing } from './tracing.js';

@Module({})
export class McpModule {
  static forRoot(tracing: Tracing): DynamicModule {
    return {
      module: McpModule,
      global: true,
      providers: [FanOut, McpDispatcher, { provide: Tracing, useValue: tracing }],
      exports: [FanOut, McpDispatcher, Tracing],
    };
  }
}

/** Binds every `@McpController` of the application to the dispatcher. Call before `app.init()` or `app.listen()`. */
export async function connectMcp(app: INestApplication): Promise<void> {
  app.connectMicroservice<AsyncMicroserviceOptions>(
    { useFactory: (strategy: McpDispatcher) => ({ strategy }), inject: [McpDispatcher] },
    // Without this, guards registered with APP_GUARD are silently skipped on MCP methods.
    { inheritAppConfig: true },
  );
  await app.startAllMicroservices();
}
