import { Module } from '@nestjs/common';
import { BackendsModule } from '../backends/backends.module.js';
import { McpModule } from '../mcp/mcp.module.js';
import { RegistryModule } from '../registry/registry.module.js';
import { Drain } from './drain.service.js';
import { ListChanges } from './list-changes.js';
import { LogMessages } from './log-messages.js';
import { McpEndpoint } from './mcp-endpoint.js';
import { MessageIntake } from './message-intake.js';
import { RequestLog } from './request-log.js';
import { SessionController } from './session.controller.js';
import { Sessions } from './sessions.service.js';

@Module({
  imports: [McpModule, RegistryModule, BackendsModule],
  controllers: [SessionController],
  providers: [Sessions, MessageIntake, McpEndpoint, ListChanges, LogMessages, RequestLog, Drain],
  exports: [McpEndpoint, Sessions],
})
export class EdgeModule {}
