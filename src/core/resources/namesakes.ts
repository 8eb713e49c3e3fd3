import type { Resource, ResourceList } from './resource-list.js';
import type { ResourceOffer } from './resource-offer.js';
import { bestInstances, type ResourceTemplate } from './resource-template.js';
import { parseResourceForm, resourceForm } from './resource-uri.js';
import type { Yield } from '../../lib/slices/slices.js';

interface Found {
  readonly templates: readonly ResourceTemplate[];
  readonly uris: ReadonlySet<string>;
}

/** Lists never change, so that two of them are compared once and for all. */
const known = new WeakMap<ResourceList, WeakMap<ResourceList, Found>>();

/** Looking at so few takes no noticeable time. */
const FEW = 256;

/** The URIs of a list that read like what another server's are called: its resource forms and identifiers. */
export function namesakesIn(list: ResourceList, offer: ResourceOffer): ReadonlySet<string> {
  const before = foundIn(list, offer);
  if (before) return before.uris;
  return remember(list, offer, new Set([...candidates(list, offer)].filter((uri) => isNameIn(offer, uri))));
}

/** Whether `namesakesIn` can say it without holding anybody up. */
export function areNamesakesKnown(list: ResourceList, offer: ResourceOffer): boolean {
  if (foundIn(list, offer)) return true;
  const few = candidates(list, offer);
  for (let count = 0; count <= FEW; count++) if (few.next().done) return true;
  return false;
}

/** Finds it out ahead of time. */
export async function findNamesakes(
  list: ResourceList,
  offer: ResourceOffer,
  yieldIfDue: Yield,
): Promise<void> {
  const uris = new Set<string>();
  for (const uri of candidates(list, offer)) {
    await yieldIfDue();
    if (isNameIn(offer, uri)) uris.add(uri);
  }
  remember(list, offer, uris);
}

function foundIn(list: ResourceList, { resources, templates }: ResourceOffer): Found | undefined {
  const found = known.get(list)?.get(resources);
  return found?.templates === templates ? found : undefined;
}

function remember(
  list: ResourceList,
  { resources, templates }: ResourceOffer,
  uris: ReadonlySet<string>,
): ReadonlySet<string> {
  const others = known.get(list) ?? new WeakMap<ResourceList, Found>();
  known.set(list, others.set(resources, { templates, uris }));
  return uris;
}

/** Nearly always none: such a URI begins with the other server's name. */
function* candidates(list: ResourceList, { server }: ResourceOffer): Generator<string, void> {
  for (const beginning of [resourceForm({ server, uri: '' }), `${server}_`])
    for (const { uri } of list.startingWith(beginning)) yield uri;
}

/** Whether a text is the resource form or the identifier of something that a server has. */
function isNameIn({ server, resources, templates }: ResourceOffer, text: string): boolean {
  const form = parseResourceForm(text);
  if (form?.server === server)
    return resources.find(form.uri) !== undefined || bestInstances(templates, form.uri, 'uri').length > 0;
  const plainId = text.slice(0, text.lastIndexOf('~'));
  return [text, plainId].some((id): Resource | undefined => resources.findId(id));
}
