import { isDeepStrictEqual } from 'node:util';
import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { BackendStatus } from '../backends/backend-status.js';
import { Backends } from '../backends/backends.service.js';
import { DesiredServers } from '../backends/desired-servers.js';
import { DecisionStore } from '../state/decision-store.js';
import { ConfigReloader } from '../config/config-reloader.js';
import { DecisionReview } from '../decisions/decision-review.js';
import { LIST_KINDS } from '../core/catalog/catalog.js';
import { Projects } from '../projects/projects.service.js';
import { Registry } from '../registry/registry.service.js';
import { Subscribers } from '../subscriptions/subscribers.js';
import { ChangeFeed } from './change-feed.js';
import { configDto } from './config.controller.js';
import { ProjectAdmin } from './project-admin.js';
import { ServerViews } from './server-views.js';
import { SubscriptionAdmin } from './subscription-admin.js';

/**
 * Interval at which the servers are polled. The members of `Polled` change too often to publish each change: the counters
 * with every call, `stderr` with every line, `reason` with every second of a slow attempt to connect.
 */
const POLL_INTERVAL_MS = 1000;

type Polled = Pick<BackendStatus, 'calls' | 'inFlight' | 'waiting' | 'stderr' | 'reason'>;

/** Publishes changes of servers and of the catalog. */
@Injectable()
export class ServerFeedPublisher implements OnModuleInit, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  /** Each server at the last poll. */
  private polled: ReadonlyMap<string, Polled> = new Map();

  constructor(
    private readonly desired: DesiredServers,
    private readonly backends: Backends,
    private readonly registry: Registry,
    private readonly views: ServerViews,
    private readonly feed: ChangeFeed,
  ) {}

  onModuleInit(): void {
    let before = this.desired.current;
    this.desired.onChange((now) => {
      const ids = new Set([...before.keys(), ...now.keys()]);
      const changed = [...ids].filter((id) => !isDeepStrictEqual(before.get(id), now.get(id)));
      before = now;
      // Deferred until the backends have applied the change.
      queueMicrotask(() => changed.forEach((id) => this.publish(id)));
    });
    this.backends.onStateChange(({ id }) => this.publish(id));
    this.timer = setInterval(() => this.poll(), POLL_INTERVAL_MS).unref();
    this.registry.onChange((change) => {
      for (const kind of LIST_KINDS)
        if (change[kind].size > 0) this.feed.publish('catalog', { kind, servers: [...change[kind]] });
    });
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private poll(): void {
    if (!this.feed.hasReaders) return;
    const before = this.polled;
    const now = new Map<string, Polled>();
    for (const backend of this.backends.all()) now.set(backend.id, backend.status());
    this.polled = now;
    for (const [id, status] of now) if (!isSame(status, before.get(id))) this.publish(id);
  }

  private publish(id: string): void {
    const server = this.views.find(id);
    this.feed.publish('server', server ? this.views.summary(server) : { id, removed: true });
  }
}

const isSame = (status: Polled, before: Polled | undefined): boolean =>
  status.calls === before?.calls &&
  status.inFlight === before.inFlight &&
  status.waiting === before.waiting &&
  status.stderr === before.stderr &&
  status.reason === before.reason;

/** Publishes changes of decisions, projects and the configuration. */
@Injectable()
export class GatewayFeedPublisher implements OnModuleInit {
  constructor(
    private readonly decisions: DecisionStore,
    private readonly projects: Projects,
    private readonly reloader: ConfigReloader,
    private readonly review: DecisionReview,
    private readonly projectAdmin: ProjectAdmin,
    private readonly feed: ChangeFeed,
  ) {}

  onModuleInit(): void {
    this.decisions.onChange(({ revision }) => this.feed.publish('decisions', { revision }));
    this.reloader.onOutcome((outcome) => {
      this.feed.publish('config', configDto(outcome, this.review.overruling()));
    });
    let before = this.currentProjects();
    this.projects.onChange(() => {
      const now = this.currentProjects();
      for (const id of new Set([...before.keys(), ...now.keys()]))
        if (!isDeepStrictEqual(before.get(id), now.get(id)))
          this.feed.publish('project', now.get(id) ?? { id, removed: true });
      before = now;
    });
  }

  private currentProjects() {
    return new Map([...this.projects.all()].map((project) => [project.id, this.projectAdmin.dtoOf(project)]));
  }
}

/** Publishes changes of subscriptions. */
@Injectable()
export class SubscriptionFeedPublisher implements OnModuleInit {
  constructor(
    private readonly subscribers: Subscribers,
    private readonly admin: SubscriptionAdmin,
    private readonly feed: ChangeFeed,
  ) {}

  onModuleInit(): void {
    this.subscribers.onChange((subscription, _subscriber, exists) => {
      if (!this.feed.hasReaders) return;
      const { id } = subscription;
      this.feed.publish('subscription', exists ? this.admin.dtoOf(subscription) : { id, ended: true });
    });
  }
}
