import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Limits } from '../config/limits.js';
import type { JsonText } from '../core/json-text.js';
import type { NameTable } from '../core/name-table.js';
import { Cursors } from '../core/page.js';
import type { Scope } from '../core/scope.js';

/** Pages of the lists, as text that is ready to be sent. */
@Injectable()
export class ListPages {
  private readonly cursors = new Cursors(randomBytes(32));

  constructor(private readonly limits: Limits) {}

  /** The page of a list that a cursor points to; the first page without one. */
  page(member: string, table: NameTable, scope: Scope, cursor: unknown): JsonText {
    const list = `${member}\0${scope.key}`;
    const after = cursor === undefined ? '' : this.cursors.open(list, cursor);
    const seal = (position: string): string => this.cursors.seal(list, position);
    return table.view(scope).page(member, after, this.limits.pageSize, seal);
  }
}
