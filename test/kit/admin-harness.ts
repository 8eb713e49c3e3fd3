import { Registry as MetricsRegistry } from 'prom-client';
import { Metrics } from '../../src/metrics/metrics.js';
import { AddressPolicy } from '../../src/backends/address-policy.js';
import type { Backends } from '../../src/backends/backends.service.js';
import { DesiredServers } from '../../src/backends/desired-servers.js';
import { DefinitionPolicy } from '../../src/admin/definition-policy.js';
import { FilePolicy } from '../../src/admin/file-policy.js';
import { DecisionReview } from '../../src/decisions/decision-review.js';
import { UNFETCHED_LISTING } from '../../src/core/catalog/catalog.js';
import { storageUnavailable } from '../../src/state/storage-failure.js';
import { AdminSettings } from '../../src/config/admin-settings.js';
import { LiveConfig } from '../../src/config/live-config.js';
import { readConfig } from '../../src/config/load-config.js';
import { Naming } from '../../src/config/naming.js';
import { Projects } from '../../src/projects/projects.service.js';
import { Registry } from '../../src/registry/registry.service.js';
import { AdminTokens } from '../../src/admin/admin-tokens.js';
import type { AdminCaller } from '../../src/admin/admin-caller.js';
import type { AuditEvent } from '../../src/state/audit/audit-entry.js';
import type { AuditLog } from '../../src/state/audit/audit-log.js';
import { AdminActions } from '../../src/admin/admin-actions.js';
import { EntityTags } from '../../src/admin/entity-tags.js';
import { SecretRedactor } from '../../src/admin/secret-redactor.js';
import { Precondition } from '../../src/admin/precondition.js';
import { ProjectAdmin } from '../../src/admin/project-admin.js';
import { ServerAdmin } from '../../src/admin/server-admin.js';
import { ServerViews } from '../../src/admin/server-views.js';
import { MemoryDecisionStore } from './memory-decision-store.js';

/** The services behind the admin controllers, on an in-memory state, with scripted listings of servers. */
export class AdminHarness {
  readonly state = new MemoryDecisionStore();
  readonly live: LiveConfig;
  readonly entries: AuditEvent[] = [];
  auditIsBroken = false;
  readonly metrics = new Metrics(new MetricsRegistry());
  readonly registry = new Registry(new Naming());
  readonly desired: DesiredServers;
  readonly secrets: SecretRedactor;
  readonly review: DecisionReview;
  readonly adminActions: AdminActions;
  readonly views: ServerViews;
  readonly servers: ServerAdmin;
  readonly projects: ProjectAdmin;
  /** The tools that each server lists. A server without an entry has not been synced. */
  readonly listings = new Map<string, string[]>();
  /** The `whenSynced` promise of every backend. */
  firstSync = Promise.resolve();

  constructor(config: object = {}, settings: Partial<AdminSettings> = {}) {
    this.live = new LiveConfig(readConfig({ text: JSON.stringify(config), source: 'spec.json', env: {} }));
    this.desired = new DesiredServers(this.live, this.state);
    const tokens = new AdminTokens('a-token-of-the-admin');
    this.secrets = new SecretRedactor(this.live, tokens, this.desired);
    this.review = new DecisionReview(this.live, this.state, this.metrics);
    this.adminActions = new AdminActions(this.audit(), this.state, this.secrets, this.metrics, this.review);
    const policy = new FilePolicy(this.live);
    const tags = new EntityTags(tokens);
    const backends = this.backends();
    this.views = new ServerViews(this.desired, backends, this.registry, tags, this.secrets, this.review);
    const admin = Object.assign(new AdminSettings(), settings);
    const addresses = new AddressPolicy(admin, this.live.current.http, this.metrics);
    this.servers = new ServerAdmin(
      this.views,
      this.adminActions,
      backends,
      this.live,
      new DefinitionPolicy(this.live, admin, addresses),
      policy,
    );
    const projects = new Projects(this.live, this.state);
    this.projects = new ProjectAdmin(
      projects,
      this.views,
      this.adminActions,
      this.live,
      tags,
      policy,
      this.review,
    );
  }

  caller(ifMatch?: string): AdminCaller {
    return { actor: 'admin', requestId: 'r1', precondition: new Precondition(ifMatch) };
  }

  get actions(): string[] {
    return this.entries.map(({ action, target, outcome }) => `${action} ${target} ${outcome}`);
  }

  private audit(): AuditLog {
    const append = async (event: AuditEvent): Promise<void> => {
      await Promise.resolve();
      if (this.auditIsBroken) throw storageUnavailable('the log is unavailable');
      this.entries.push(event);
    };
    return { append } as unknown as AuditLog;
  }

  private backends(): Backends {
    const find = (id: string): unknown => {
      const names = this.listings.get(id);
      if (!this.desired.current.get(id)?.enabled) return undefined;
      const tools = names?.map((name) => ({ name, text: JSON.stringify({ name }) }));
      return {
        listing: tools && { ...UNFETCHED_LISTING, tools },
        status: () => ({ state: 'ready', since: 0, restarts: 0, inFlight: 0, waiting: 0, stderr: [] }),
        whenSynced: () => this.firstSync,
        reconnect: () => {},
      };
    };
    return { find, whenListed: async () => {} } as unknown as Backends;
  }
}
