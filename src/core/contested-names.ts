import type { ResourceOffer } from './resource-offer.js';
import { bestInstances } from './resource-template.js';
import { cutResourceForm } from './resource-uri.js';
import { sameSet } from './same-set.js';

type Names = ReadonlySet<string>;
const NO_NAMES: Names = new Set();

/** What clients cannot call one server's resources and templates, because something else is called so, too. */
export class ContestedNames {
  constructor(
    /** One set for each server that has some of the same. */
    private readonly uris: readonly Names[],
    private readonly ids: readonly Names[],
    /** Servers whose names some of these URIs look like. */
    private readonly namesakes: readonly ResourceOffer[],
    private readonly templates: Names,
    private readonly templateIds: Names,
  ) {}

  static readonly NONE = new ContestedNames([], [], [], NO_NAMES, NO_NAMES);

  get anyUris(): boolean {
    return this.uris.length > 0 || this.namesakes.length > 0;
  }

  get anyIds(): boolean {
    return this.ids.length > 0;
  }

  hasUri(uri: string): boolean {
    return isIn(this.uris, uri) || this.namesakes.some((offer) => isNameIn(offer, uri));
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

  /** The sets of two lists that did not change are the same objects as before. */
  isSame(other: ContestedNames): boolean {
    return (
      sameItems(this.uris, other.uris) &&
      sameItems(this.ids, other.ids) &&
      sameOffers(this.namesakes, other.namesakes) &&
      sameSet(this.templates, other.templates) &&
      sameSet(this.templateIds, other.templateIds)
    );
  }
}

const isIn = (sets: readonly Names[], name: string): boolean => sets.some((set) => set.has(name));

/** Whether a text is the resource form or the identifier of something that a server has. */
function isNameIn({ server, resources, templates }: ResourceOffer, text: string): boolean {
  const form = cutResourceForm(text);
  if (form?.server === server)
    return resources.find(form.uri) !== undefined || bestInstances(templates, form.uri, 'uri').length > 0;
  const plainId = text.slice(0, text.lastIndexOf('~'));
  return resources.findId(text) !== undefined || resources.findId(plainId) !== undefined;
}

const sameItems = <Item>(a: readonly Item[], b: readonly Item[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index]);

const sameOffers = (a: readonly ResourceOffer[], b: readonly ResourceOffer[]): boolean =>
  a.length === b.length &&
  a.every(({ server, resources, templates }, index) => {
    const other = b[index]!;
    return server === other.server && resources === other.resources && templates === other.templates;
  });
