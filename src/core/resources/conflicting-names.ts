import { isSameSet } from './same-set.js';

type Names = ReadonlySet<string>;
const NO_NAMES: Names = new Set();

/** What clients cannot call one server's resources and templates, because something else is called so, too. */
export class ConflictingNames {
  constructor(
    /** One set for each server that has some of the same. */
    private readonly uris: readonly Names[],
    private readonly ids: readonly Names[],
    private readonly templates: Names = NO_NAMES,
    private readonly templateIds: Names = NO_NAMES,
  ) {}

  static readonly NONE = new ConflictingNames([], []);

  /** The URIs, or identifiers, one set after the other: some names may be in several. */
  sets(key: 'uri' | 'id'): readonly Names[] {
    return key === 'uri' ? this.uris : this.ids;
  }

  hasUri(uri: string): boolean {
    return isIn(this.uris, uri);
  }

  hasId(id: string): boolean {
    return isIn(this.ids, id);
  }

  hasTemplate(uriTemplate: string): boolean {
    return this.templates.has(uriTemplate);
  }

  hasTemplateId(id: string): boolean {
    return this.templateIds.has(id);
  }

  /** Whether the same names are contested, whoever has them. */
  isSame(other: ConflictingNames): boolean {
    return (
      sameNames(this.uris, other.uris) &&
      sameNames(this.ids, other.ids) &&
      isSameSet(this.templates, other.templates) &&
      isSameSet(this.templateIds, other.templateIds)
    );
  }
}

const isIn = (sets: readonly Names[], name: string): boolean => sets.some((set) => set.has(name));

/** Beyond, a needless notice to clients costs less than to find out that it is. */
const MANY_NAMES = 10_000;

/** Sets that did not change are the same objects as before, so that the names are seldom looked at. */
function sameNames(a: readonly Names[], b: readonly Names[]): boolean {
  const [onlyA, onlyB] = [a.filter((set) => !b.includes(set)), b.filter((set) => !a.includes(set))];
  const count = [...onlyA, ...onlyB].reduce((sum, { size }) => sum + size, 0);
  return count <= MANY_NAMES && onlyA.every((set) => areIn(b, set)) && onlyB.every((set) => areIn(a, set));
}

function areIn(sets: readonly Names[], names: Names): boolean {
  for (const name of names) if (!isIn(sets, name)) return false;
  return true;
}
