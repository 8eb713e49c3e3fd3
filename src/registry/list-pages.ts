import { Injectable } from '@nestjs/common';
import { Limits } from '../config/limits.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import type { Paged } from '../core/catalog/list-page.js';
import { Cursors } from '../core/catalog/cursors.js';
import type { Scope } from '../core/scope.js';
import { CursorKey } from '../state/cursor-key.js';

/** Serves lists in pages, with sealed cursors. */
@Injectable()
export class ListPages {
  private readonly cursors: Cursors;

  constructor(
    private readonly limits: Limits,
    key: CursorKey,
  ) {
    this.cursors = new Cursors(key.derive('lists'));
  }

  /** The page after a cursor, or the first page. */
  page(member: string, list: Paged, scope: Scope, cursor: unknown): JsonText {
    const sealed = `${member}\0${scope.key}`;
    const after = cursor === undefined ? '' : this.cursors.open(sealed, cursor);
    const seal = (position: string): string => this.cursors.seal(sealed, position);
    return list.page(member, after, this.limits.pageSize, seal);
  }
}
