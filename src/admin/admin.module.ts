import { Module, type BeforeApplicationShutdown } from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { BackendsModule } from '../backends/backends.module.js';
import { MetaToolsModule } from '../meta-tools/meta-tools.module.js';
import { DecisionsModule } from '../decisions/decisions.module.js';
import { EdgeModule } from '../edge/edge.module.js';
import { ProjectsModule } from '../projects/projects.module.js';
import { RegistryModule } from '../registry/registry.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { AuditLog } from '../state/audit/audit-log.js';
import { CatalogLists } from './catalog-lists.js';
import { CatalogController } from './catalog.controller.js';
import { ListRequests } from './list-requests.js';
import { ChangeFeed } from './change-feed.js';
import { AdminActions } from './admin-actions.js';
import { ConfigController } from './config.controller.js';
import { DecisionAdmin } from './decision-admin.js';
import { DecisionsController, KeysController } from './decisions.controller.js';
import { DefinitionPolicy } from './definition-policy.js';
import { FilePolicy } from './file-policy.js';
import { DocsController } from './openapi/docs.controller.js';
import { EntityTags } from './entity-tags.js';
import { EventsController } from './events.controller.js';
import { GatewayFeedPublisher, ServerFeedPublisher, SubscriptionFeedPublisher } from './feed-publishers.js';
import { SecretRedactor } from './secret-redactor.js';
import { OperatorModule } from './operator.module.js';
import { ProblemFilter } from './problem.filter.js';
import { ProjectAdmin } from './project-admin.js';
import { ProjectsController } from './projects.controller.js';
import { ResourceLists } from './resource-lists.js';
import { ServerAdmin } from './server-admin.js';
import { ServerViews } from './server-views.js';
import { ServersController } from './servers.controller.js';
import { ConnectedClients } from './connected-clients.js';
import { SessionAdmin } from './session-admin.js';
import { SessionFeed } from './session-feed.js';
import { SessionViews } from './session-views.js';
import { SessionsController } from './sessions.controller.js';
import { SummaryController } from './summary.controller.js';
import { SubscriptionAdmin } from './subscription-admin.js';
import { AdminSubscriptionsController } from './admin-subscriptions.controller.js';

@Module({
  imports: [
    OperatorModule,
    DecisionsModule,
    BackendsModule,
    ProjectsModule,
    RegistryModule,
    MetaToolsModule,
    SubscriptionsModule,
    EdgeModule,
  ],
  controllers: [
    DocsController,
    ServersController,
    CatalogController,
    SessionsController,
    AdminSubscriptionsController,
    ProjectsController,
    ConfigController,
    DecisionsController,
    KeysController,
    SummaryController,
    EventsController,
  ],
  providers: [
    CatalogLists,
    ListRequests,
    ChangeFeed,
    AdminActions,
    DecisionAdmin,
    EntityTags,
    DefinitionPolicy,
    FilePolicy,
    GatewayFeedPublisher,
    SecretRedactor,
    ProjectAdmin,
    ResourceLists,
    ServerAdmin,
    ServerFeedPublisher,
    ServerViews,
    ConnectedClients,
    SessionAdmin,
    SessionFeed,
    SessionViews,
    SubscriptionAdmin,
    SubscriptionFeedPublisher,
    { provide: APP_FILTER, useClass: ProblemFilter },
  ],
  exports: [SecretRedactor],
})
export class AdminModule implements BeforeApplicationShutdown {
  constructor(
    private readonly audit: AuditLog,
    { httpAdapter }: HttpAdapterHost<FastifyAdapter>,
  ) {
    const fastify = httpAdapter.getInstance();
    // Without this, Fastify would parse bodies before any guard runs. `BodyInterceptor` reads the bodies of the admin API.
    fastify.removeAllContentTypeParsers();
    fastify.addContentTypeParser('*', (_request, _body, done) => done(null));
  }

  /** Closes the audit log before the drain. Admin actions fail from then on, because they cannot be recorded. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.audit.close();
  }
}
