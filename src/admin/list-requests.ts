import { Injectable } from '@nestjs/common';
import { GatewayError } from '../core/errors.js';
import { Cursors } from '../core/catalog/cursors.js';
import { EVERYTHING, scopeOf, type Scope } from '../core/scope.js';
import { CursorKey } from '../state/cursor-key.js';
import { Projects } from '../projects/projects.service.js';
import { invalidInput, notFound } from './admin-problem.js';
import { DEFAULT_PAGE_SIZE, type ListQuery } from './dto/list-query.dto.js';
import { ServerViews } from './server-views.js';

/** A valid list query. */
export interface ListRequest {
  readonly scope: Scope;
  readonly server: string | undefined;
  /** Words to search for; empty if the query is no search. */
  readonly q: string;
  /** Whether a text in lower case contains every word of `q`, also as a part of a longer word. */
  readonly matches: (text: string) => boolean;
  /** Key of the last entry of the previous page; empty for the first page. */
  readonly after: string;
  readonly limit: number;
  /** The cursor of the page that starts after the entry with this key. */
  readonly cursorAfter: (key: string) => string;
}

/** Validates list queries: the cursor must be valid, and the server and the project must exist. */
@Injectable()
export class ListRequests {
  private readonly cursors: Cursors;

  constructor(
    private readonly projects: Projects,
    private readonly servers: ServerViews,
    key: CursorKey,
  ) {
    this.cursors = new Cursors(key.derive('admin lists'));
  }

  /** `listId` identifies the list that the query asks for. */
  parse(listId: string, query: ListQuery): ListRequest {
    const { server, project, q = '', limit = DEFAULT_PAGE_SIZE } = query;
    // A cursor is valid only for the list and the filters that it was issued for.
    const list = JSON.stringify([listId, server ?? '', project ?? '', q]);
    const after = query.cursor === undefined ? '' : this.keyInCursor(list, query.cursor);
    // Throws a problem if the server does not exist.
    if (server !== undefined) this.servers.get(server);
    const cursorAfter = (key: string): string => this.cursors.sign(list, key);
    const words = q.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = (text: string): boolean => words.every((word) => text.includes(word));
    return { scope: this.scopeOf(project), server, q: q.trim(), matches, after, limit, cursorAfter };
  }

  private keyInCursor(list: string, cursor: string): string {
    try {
      return this.cursors.verify(list, cursor);
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
