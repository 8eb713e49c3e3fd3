import type { Steps } from '../../../lib/slices/run-sliced.js';
import { NameOwners } from './name-owners.js';
import type { ResourceTemplate } from '../resource-template.js';
import { resourceForm, type ResourceStyle } from '../resource-uri.js';
import { diffSorted } from '../../../lib/sorted/sorted-diff.js';

interface ConflictingTemplateNames {
  readonly uriTemplates: ReadonlySet<string>;
  readonly templateIds: ReadonlySet<string>;
}

const STEPS_BETWEEN_YIELDS = 64;

/** Finds the name conflicts between the templates of all servers. */
export class TemplateConflicts {
  private readonly idOwners = new NameOwners();
  private readonly textOwners = new NameOwners();
  /** Resource forms and identifiers. In style `original` they share a namespace with the templates' own texts. */
  private readonly nameOwners = new NameOwners();

  constructor(private readonly style: ResourceStyle) {}

  /** Replaces the templates of a server. Adds the servers whose conflicts change with it to `changed`. */
  *replace(
    server: string,
    old: readonly ResourceTemplate[],
    now: readonly ResourceTemplate[],
    changed: Set<string>,
  ): Steps {
    if (old === now) return;
    let step = 0;
    for (const { removed, added } of diffSorted(old, now, keyOf)) {
      if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
      if (removed) this.update('delete', server, removed, changed);
      if (added) this.update('add', server, added, changed);
    }
  }

  /** The names of these templates that conflict with others. */
  *collect(templates: readonly ResourceTemplate[]): Steps<ConflictingTemplateNames> {
    const uriTemplates = new Set<string>();
    const templateIds = new Set<string>();
    let step = 0;
    for (const { uriTemplate, id } of templates) {
      if (++step % STEPS_BETWEEN_YIELDS === 0) yield;
      if (this.textOwners.isShared(uriTemplate) || this.nameOwners.has(uriTemplate))
        uriTemplates.add(uriTemplate);
      if (this.idOwners.isShared(id)) templateIds.add(id);
    }
    return { uriTemplates, templateIds };
  }

  private update(
    action: 'add' | 'delete',
    server: string,
    { uriTemplate, id }: ResourceTemplate,
    changed: Set<string>,
  ): void {
    const others = [this.idOwners[action](id, server)];
    if (this.style === 'original') {
      others.push(this.textOwners[action](uriTemplate, server));
      for (const name of [resourceForm({ server, uri: uriTemplate }), id]) {
        const wasClaimed = this.nameOwners.has(name);
        this.nameOwners[action](name, server);
        if (wasClaimed !== this.nameOwners.has(name)) others.push(...this.textOwners.ownersOf(name));
      }
    }
    for (const other of others) if (other !== undefined) changed.add(other);
  }
}

/** Includes the identifier, which can differ between two syncs of the same template. */
const keyOf = ({ uriTemplate, id }: ResourceTemplate): string => `${uriTemplate}\0${id}`;
