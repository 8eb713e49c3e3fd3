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

/** The counters change with every call and stderr with every line: too often to publish each change, so both are polled. */
const LOAD_INTERVAL_MS = 1000;

type Load = Pick<BackendStatus, 'calls' | 'inFlight' | 'waiting' | 'stderr'>;

/** Publishes changes of servers and of the catalog. */
@Injectable()
export class ServerFeed implements OnModuleInit, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  /** The load of each server at the last poll. */
  private loads: ReadonlyMap<string, Load> = new Map();

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
    this.timer = setInterval(() => this.publishLoads(), LOAD_INTERVAL_MS).unref();
    this.registry.onChange((change) => {
      for (const kind of LIST_KINDS)
        if (change[kind].size > 0) this.feed.publish('catalog', { kind, servers: [...change[kind]] });
    });
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private publishLoads(): void {
    if (!this.feed.hasReaders) return;
    const before = this.loads;
    const now = new Map<string, Load>();
    for (const backend of this.backends.all()) now.set(backend.id, backend.status());
    this.loads = now;
    for (const [id, load] of now) if (!isSameLoad(load, before.get(id))) this.publish(id);
  }

  private publish(id: string): void {
    const server = this.views.find(id);
    this.feed.publish('server', server ? this.views.summary(server) : { id, removed: true });
  }
}

const isSameLoad = (load: Load, before: Load | undefined): boolean =>
  load.calls === before?.calls &&
  load.inFlight === before.inFlight &&
  load.waiting === before.waiting &&
  load.stderr === before.stderr;

/** Publishes changes of decisions, projects and the configuration. */
@Injectable()
export class GatewayFeed implements OnModuleInit {
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
export class SubscriptionFeed implements OnModuleInit {
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
