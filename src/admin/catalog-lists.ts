import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Limits } from '../config/limits.js';
import type { ListKind } from '../core/catalog.js';
import { GatewayError } from '../core/errors.js';
import type { ListedEntry } from '../core/name-table.js';
import { Cursors } from '../core/page.js';
import { EVERYTHING, scopeOf, type Scope } from '../core/scope.js';
import { Projects } from '../projects/projects.service.js';
import { Registry } from '../registry/registry.service.js';
import { invalidInput, notFound } from './admin-problem.js';
import type { CatalogQuery } from './catalog-query.js';
import type { PlainObject } from './plain-object.js';
import { ServerViews } from './server-views.js';

export interface CatalogItem {
  readonly name: string;
  readonly server: string;
  readonly own: string;
  /** As clients see it. */
  readonly definition: PlainObject;
}

export interface CatalogPage {
  readonly items: readonly CatalogItem[];
  readonly nextCursor?: string;
}

/** Searches what is offered, in memory: no server is asked. */
@Injectable()
export class CatalogLists {
  private readonly cursors = new Cursors(randomBytes(32));
  /** Entries are kept from one catalog to the next, and so is what was read out of them. */
  private readonly texts = new WeakMap<ListedEntry, string>();

  constructor(
    private readonly registry: Registry,
    private readonly projects: Projects,
    private readonly servers: ServerViews,
    private readonly limits: Limits,
  ) {}

  page(kind: ListKind, query: CatalogQuery): CatalogPage {
    const { server = '', project = '', q = '', limit = this.limits.pageSize } = query;
    const list = JSON.stringify([kind, server, project, q]);
    const after = query.cursor === undefined ? '' : this.positionIn(list, query.cursor);
    if (query.server !== undefined) this.servers.get(query.server);
    const words = q.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.registry.catalog[kind]
      .view(this.scopeOf(query.project))
      .listed.filter((entry) => entry.name > after)
      .filter((entry) => server === '' || entry.server === server)
      .filter((entry) => words.every((word) => this.textOf(entry).includes(word)));
    const items = found.slice(0, limit);
    const more = found.length > limit ? { nextCursor: this.cursors.seal(list, items.at(-1)!.name) } : {};
    return { items: items.map(itemOf), ...more };
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

  private textOf(entry: ListedEntry): string {
    let text = this.texts.get(entry);
    if (text === undefined) {
      const { title, description } = JSON.parse(entry.text) as PlainObject;
      const words = [entry.name, title, description].filter((part) => typeof part === 'string');
      text = words.join('\n').toLowerCase();
      this.texts.set(entry, text);
    }
    return text;
  }
}

const itemOf = ({ name, server, own, text }: ListedEntry): CatalogItem => ({
  name,
  server,
  own,
  definition: JSON.parse(text) as PlainObject,
});
