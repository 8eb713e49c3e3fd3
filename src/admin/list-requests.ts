import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Limits } from '../config/limits.js';
import { GatewayError } from '../core/errors.js';
import { Cursors } from '../core/catalog/cursors.js';
import { EVERYTHING, scopeOf, type Scope } from '../core/scope.js';
import { Projects } from '../projects/projects.service.js';
import { invalidInput, notFound } from './admin-problem.js';
import type { ListQuery } from './dto/list-query.dto.js';
import { ServerViews } from './server-views.js';

/** Which part of a list is wanted. */
export interface ListRequest {
  readonly scope: Scope;
  readonly server: string | undefined;
  /** Words to look for; empty when none are. */
  readonly q: string;
  /** The key that the page comes after; empty at the beginning. */
  readonly after: string;
  readonly limit: number;
  /** The cursor of the page after this key. */
  readonly seal: (position: string) => string;
}

/** Reads what narrows a list down, and refuses what is not there. */
@Injectable()
export class ListRequests {
  private readonly cursors = new Cursors(randomBytes(32));

  constructor(
    private readonly projects: Projects,
    private readonly servers: ServerViews,
    private readonly limits: Limits,
  ) {}

  read(kind: string, query: ListQuery): ListRequest {
    const { server, project, q = '', limit = this.limits.pageSize } = query;
    const list = JSON.stringify([kind, server ?? '', project ?? '', q]);
    const after = query.cursor === undefined ? '' : this.positionIn(list, query.cursor);
    if (server !== undefined) this.servers.get(server);
    const seal = (position: string): string => this.cursors.seal(list, position);
    return { scope: this.scopeOf(project), server, q: q.trim(), after, limit, seal };
  }

  private positionIn(list: string, cursor: string): string {
    try {
      return this.cursors.open(list, cursor);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      throw invalidInput([{ field: 'cursor', message: error.message }]);
    }
  }

  private scopeOf(id: string | undefined): Scope {
    if (id === undefined) return EVERYTHING;
    const project = this.projects.find(id);
    if (!project) throw notFound('project', id);
    return scopeOf(project.servers);
  }
}
