import { Module } from '@nestjs/common';
import { BackendsModule } from '../backends/backends.module.js';
import { ProjectsModule } from '../projects/projects.module.js';
import { RegistryModule } from '../registry/registry.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { AuthModule } from './auth/auth.module.js';
import { AuthenticationGuard } from './auth/authentication.guard.js';
import { ClientAddresses } from './client-addresses.js';
import { ConnectionGuard } from './connection.guard.js';
import { Drain } from './drain.service.js';
import { EmptyScopes } from './empty-scopes.js';
import { ListChanges } from './list-changes.js';
import { LogMessages } from './log-messages.js';
import { McpEndpoint } from './mcp-endpoint.js';
import { RequestBodies } from './request-bodies.js';
import { MessageReceiver } from './message-receiver.js';
import { DiscoverController } from './modern/discover.controller.js';
import { ListenController } from './modern/listen.controller.js';
import { Listens } from './modern/listens.service.js';
import { ModernIntake } from './modern/modern-intake.js';
import { ModernRequests } from './modern/modern-requests.js';
import { ModernResponses } from './modern/modern-responses.js';
import { NotificationRecipients } from './notification-recipients.js';
import { OriginGuard } from './origin.guard.js';
import { RequestLog } from './request-log.js';
import { RequestRunner } from './request-runner.js';
import { ServerInstructions } from './server-instructions.js';
import { SessionController } from './session.controller.js';
import { SessionPersistence } from './session-persistence.js';
import { SessionRestorer } from './session-restorer.js';
import { SessionScopes } from './session-scopes.js';
import { Sessions } from './sessions.service.js';
import { StreamQuota } from './stream-quota.js';

@Module({
  imports: [AuthModule, ProjectsModule, RegistryModule, BackendsModule, SubscriptionsModule],
  controllers: [SessionController, DiscoverController, ListenController],
  providers: [
    ServerInstructions,
    SessionScopes,
    EmptyScopes,
    SessionPersistence,
    SessionRestorer,
    Sessions,
    MessageReceiver,
    McpEndpoint,
    RequestBodies,
    OriginGuard,
    AuthenticationGuard,
    ClientAddresses,
    ConnectionGuard,
    StreamQuota,
    ListChanges,
    LogMessages,
    NotificationRecipients,
    RequestLog,
    RequestRunner,
    Listens,
    ModernIntake,
    ModernRequests,
    ModernResponses,
    Drain,
  ],
  exports: [Drain, McpEndpoint, OriginGuard, ConnectionGuard, Sessions, Listens],
})
export class EdgeModule {}
