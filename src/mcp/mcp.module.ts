import { Module, type INestApplication } from '@nestjs/common';
import type { AsyncMicroserviceOptions } from '@nestjs/microservices';
import { McpDispatcher } from './mcp.dispatcher.js';

@Module({ providers: [McpDispatcher], exports: [McpDispatcher] })
export class McpModule {}

/** Binds every `@McpController` of the application to the dispatcher. Call before `app.init()` or `app.listen()`. */
export async function connectMcp(app: INestApplication): Promise<void> {
  app.connectMicroservice<AsyncMicroserviceOptions>(
    { useFactory: (strategy: McpDispatcher) => ({ strategy }), inject: [McpDispatcher] },
    // Without this, guards registered with APP_GUARD are silently skipped on MCP methods.
    { inheritAppConfig: true },
  );
  await app.startAllMicroservices();
}
