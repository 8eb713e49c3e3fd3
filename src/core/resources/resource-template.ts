import type { Definition } from '../naming/catalog-entry.js';
import { distinctId, isUi, resourceForm, underscoreId, type ResourceStyle } from './resource-uri.js';
import { slicedSort } from '../../lib/slices/sliced-sort.js';
import type { Yield } from '../../lib/slices/slices.js';
import { UriTemplate } from '../../lib/uri-template/uri-template.js';

/** A template as its server listed it, with matchers for own URIs and for identifiers. */
export interface ResourceTemplate {
  readonly server: string;
  /** The server's own URI template. */
  readonly uriTemplate: string;
  /** The definition as JSON. */
  readonly text: string;
  /** Identifier (`underscoreId`). It contains the expressions of the URI template. */
  readonly id: string;
  readonly matcher: UriTemplate;
  /** Matches identifiers of instances. Undefined if `id` is not a valid template. */
  readonly idMatcher: UriTemplate | undefined;
}

/**
 * Parses the listed templates and sorts them, so that identifiers do not depend on the order in which the server listed
 * them. `refused` contains the templates that are invalid or exceed the limits of the matcher.
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

/** Adds a digest to each identifier that several templates share, in all of these templates. */
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

/** Sorts the definitions by URI template. Of several definitions with one URI template, the first counts. */
function sortDistinct(listed: readonly Definition[], yieldIfDue: Yield): Promise<Definition[]> {
  const byName = new Map<string, Definition>();
  for (const definition of listed) if (!byName.has(definition.name)) byName.set(definition.name, definition);
  return slicedSort([...byName.values()], (a, b) => (a.name < b.name ? -1 : 1), yieldIfDue);
}

/** The template with a digest in its identifier, because another template has the same identifier. */
export function withDistinctId(template: ResourceTemplate): ResourceTemplate {
  const id = distinctId({ server: template.server, uri: template.uriTemplate });
  return { ...template, id, idMatcher: UriTemplate.parse(id) };
}

/**
 * The URI template as clients see it. `isConflicting`: the own URI template is also a name of another template, or
 * belongs to another server.
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

function findDuplicates(texts: readonly string[]): Set<string> {
  const seen = new Set<string>();
  const duplicates = new Set<string>();
  for (const text of texts) {
    if (seen.has(text)) duplicates.add(text);
    else seen.add(text);
  }
  return duplicates;
}
