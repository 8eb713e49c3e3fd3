import type { Definition } from '../naming/catalog-entry.js';
import { distinctId, isUi, resourceForm, underscoreId, type ResourceStyle } from './resource-uri.js';
import { slicedSort } from '../../lib/slices/sliced-sort.js';
import type { Yield } from '../../lib/slices/slices.js';
import { UriTemplate } from '../../lib/uri-template/uri-template.js';
import type { TemplateForm, TemplateIndex, TemplateInstance } from './template-index.js';

/** A template as its server listed it, with matchers for own URIs and for identifiers. */
export interface ResourceTemplate {
  readonly server: string;
  readonly uriTemplate: string;
  readonly text: string;
  readonly id: string;
  readonly matcher: UriTemplate;
  readonly idMatcher: UriTemplate | undefined;
}

/**
 * Parses the listed templates. Sorts them, so that identifiers do not depend on the order of the list. Refuses templates
 * that are invalid or exceed the limits of the matcher.
 */
export async function parseTemplates(
  server: string,
  listed: readonly Definition[],
  yieldIfDue: Yield,
): Promise<{ readonly templates: readonly ResourceTemplate[]; readonly refused: readonly string[] }> {
  const templates: ResourceTemplate[] = [];
  const refused: string[] = [];
  for (const { name: uriTemplate, text } of await sortDistinct(listed, yieldIfDue)) {
    await yieldIfDue();
    const matcher = UriTemplate.parse(uriTemplate);
    if (!matcher) {
      refused.push(uriTemplate);
      continue;
    }
    const id = underscoreId({ server, uri: uriTemplate });
    templates.push({ server, uriTemplate, text, id, matcher, idMatcher: UriTemplate.parse(id) });
  }
  return { templates: await withDistinctIds(templates, yieldIfDue), refused };
}

/** Adds a digest to the identifiers that several templates share. As with resources, no template keeps a shared one. */
async function withDistinctIds(
  templates: readonly ResourceTemplate[],
  yieldIfDue: Yield,
): Promise<ResourceTemplate[]> {
  const shared = findDuplicates(templates.map(({ id }) => id));
  const distinct: ResourceTemplate[] = [];
  for (const template of templates) {
    await yieldIfDue();
    distinct.push(shared.has(template.id) ? withDistinctId(template) : template);
  }
  return distinct;
}

/** Sorts by template. Of equal templates the first is kept. */
function sortDistinct(listed: readonly Definition[], yieldIfDue: Yield): Promise<Definition[]> {
  const byName = new Map<string, Definition>();
  for (const definition of listed) if (!byName.has(definition.name)) byName.set(definition.name, definition);
  return slicedSort([...byName.values()], (a, b) => (a.name < b.name ? -1 : 1), yieldIfDue);
}

/** The template with a digest in its identifier, because another template has the plain one too. */
export function withDistinctId(template: ResourceTemplate): ResourceTemplate {
  const id = distinctId({ server: template.server, uri: template.uriTemplate });
  return { ...template, id, idMatcher: UriTemplate.parse(id) };
}

/**
 * The template as clients see it. `isConflicting`: its own text is a name of another template, or belongs to another
 * server.
 */
export function publicUriTemplate(
  { server, uriTemplate, id }: ResourceTemplate,
  style: ResourceStyle,
  isConflicting: boolean,
): string {
  if (style === 'resource' || isUi(uriTemplate) || (style === 'original' && isConflicting))
    return resourceForm({ server, uri: uriTemplate });
  return style === 'underscore' ? id : uriTemplate;
}

/**
 * The cost of matching in one lookup, over all servers: about the number of characters that matchers examine. Templates come
 * from servers and texts from clients: without this limit, thousands of templates and one long text would block the event
 * loop. It takes about 10 ms.
 */
const MAX_MATCH_COST = 2 ** 18;
/** The cost of matching a long text with one template, which every server may have that is searched at all. */
const MIN_SERVER_COST = MAX_MATCH_COST / 8;

/**
 * Finds the templates that match the text and have the most literal characters, at most one per server. More than one
 * result is ambiguous: the gateway does not choose between servers. Servers with few possible templates are searched first,
 * and each gets an equal share of the cost that is left, so that no server uses up the share of another.
 */
export function bestInstances(
  indexes: readonly TemplateIndex[],
  text: string,
  form: TemplateForm,
): readonly TemplateInstance[] {
  if (text === '') return [];
  const searches = indexes.map((index) => index.search(text, form)).filter(({ size }) => size > 0);
  const found: TemplateInstance[] = [];
  let left = MAX_MATCH_COST;
  for (const [index, search] of searches.toSorted((a, b) => a.size - b.size).entries()) {
    if (left <= 0) break;
    const share = left / (searches.length - index);
    const { instance, cost } = search.run(Math.max(share, MIN_SERVER_COST));
    if (instance) found.push(instance);
    left -= cost;
  }
  const most = Math.max(...found.map(literalLengthOf));
  return found.filter((instance) => literalLengthOf(instance) === most);
}

const literalLengthOf = ({ template }: TemplateInstance): number => template.matcher.literalLength;

function findDuplicates(texts: readonly string[]): Set<string> {
  const seen = new Set<string>();
  const duplicates = new Set<string>();
  for (const text of texts) {
    if (seen.has(text)) duplicates.add(text);
    else seen.add(text);
  }
  return duplicates;
}
