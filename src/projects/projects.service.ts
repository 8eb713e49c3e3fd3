import { Injectable } from '@nestjs/common';
import { DecisionStore } from '../state/decision-store.js';
import { LiveConfig } from '../config/live-config.js';
import { effectiveProjectDecision } from '../decisions/effective-decisions.js';
import { GatewayError, shorten } from '../core/errors.js';
import { EVERYTHING, scopeOf, type Scope } from '../core/scope.js';
import type { Principal } from '../mcp/principal.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';

export interface Project {
  readonly id: string;
  readonly servers: readonly string[];
  readonly description?: string | undefined;
  /** Whether the project comes from the configuration or from a decision of an administrator. */
  readonly origin: 'config' | 'admin';
}

/** The projects of the configuration and of decisions, and the scopes of principals in them. */
@Injectable()
export class Projects {
  private readonly listeners = new ListenerSet();
  private projects: ReadonlyMap<string, Project>;
  /** By JSON of sorted project ids: the scope. Emptied when projects change. */
  private scopes = new Map<string, Scope>();

  constructor(
    private readonly live: LiveConfig,
    private readonly decisions: DecisionStore,
  ) {
    this.projects = this.collect();
    live.onChange(() => this.refresh());
    decisions.onChange(() => this.refresh());
  }

  all(): Iterable<Project> {
    return this.projects.values();
  }

  find(id: string): Project | undefined {
    return this.projects.get(id);
  }

  onChange(listener: () => void): () => void {
    return this.listeners.add(listener);
  }

  /**
   * The scope of a principal in one project, or in all projects that the principal is granted. Throws the same error
   * for a forbidden as for an unknown project, so that a client cannot find out which projects exist.
   */
  scope({ grants }: Principal, project?: string): Scope {
    if (project !== undefined) {
      if (!this.projects.has(project) || (grants !== '*' && !grants.has(project)))
        throw new GatewayError('project-not-found', `Unknown project: ${shorten(project)}`);
      return this.scopeOfProjects([project]);
    }
    return grants === '*' ? EVERYTHING : this.scopeOfProjects([...grants].toSorted());
  }

  private scopeOfProjects(ids: readonly string[]): Scope {
    const key = JSON.stringify(ids);
    let scope = this.scopes.get(key);
    if (!scope) {
      scope = scopeOf(ids.flatMap((id) => this.projects.get(id)?.servers ?? []));
      this.scopes.set(key, scope);
    }
    return scope;
  }

  private refresh(): void {
    this.projects = this.collect();
    this.scopes = new Map();
    this.listeners.emit();
  }

  private collect(): Map<string, Project> {
    const projects = new Map<string, Project>();
    for (const [id, { servers, description }] of this.live.current.projects)
      projects.set(id, { id, servers, description, origin: 'config' });
    for (const id of this.decisions.current.projects.keys()) {
      const decision = effectiveProjectDecision(id, this.decisions.current, this.live.current);
      if (!decision) continue;
      if ('removed' in decision) projects.delete(id);
      else projects.set(id, { id, ...decision, origin: 'admin' });
    }
    return projects;
  }
}
