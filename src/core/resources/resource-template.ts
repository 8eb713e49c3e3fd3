import type { Definition } from '../naming/catalog-entry.js';
import { distinctId, isUi, resourceForm, underscoreId, type ResourceStyle } from './resource-uri.js';
import { slicedSort } from '../../lib/slices/sliced-sort.js';
import type { Yield } from '../../lib/slices/slices.js';
import { UriTemplate } from '../../lib/uri-template/uri-template.js';

/** A template as its server listed it, ready to be matched in its own form and in that of its identifier. */
export interface ResourceTemplate {
  readonly server: string;
  readonly uriTemplate: string;
  readonly text: string;
  readonly id: string;
  readonly matcher: UriTemplate;
  readonly idMatcher: UriTemplate | undefined;
}

/**
 * Sorted, so that what they are called does not depend on the order they are listed in; of equal ones the first
 * stays. Those that cannot be matched, or not within bounds, are left out.
 */
export async function parseTemplates(
  server: string,
  listed: readonly Definition[],
  yieldIfDue: Yield,
): Promise<{ readonly templates: readonly ResourceTemplate[]; readonly refused: readonly string[] }> {
  const templates: ResourceTemplate[] = [];
  const refused: string[] = [];
  for (const { name: uriTemplate, text } of await firstOfEach(listed, yieldIfDue)) {
    await yieldIfDue();
    const matcher = UriTemplate.parse(uriTemplate);
    if (!matcher) {
      refused.push(uriTemplate);
      continue;
    }
    const id = underscoreId({ server, uri: uriTemplate });
    templates.push({ server, uriTemplate, text, id, matcher, idMatcher: UriTemplate.parse(id) });
  }
  return { templates: await toldApart(templates, yieldIfDue), refused };
}

/** As with resources, none of those that share an identifier keeps it. */
async function toldApart(
  templates: readonly ResourceTemplate[],
  yieldIfDue: Yield,
): Promise<ResourceTemplate[]> {
  const shared = findDuplicates(templates.map(({ id }) => id));
  const told: ResourceTemplate[] = [];
  for (const template of templates) {
    await yieldIfDue();
    told.push(shared.has(template.id) ? withDistinctId(template) : template);
  }
  return told;
}

function firstOfEach(listed: readonly Definition[], yieldIfDue: Yield): Promise<Definition[]> {
  const byName = new Map<string, Definition>();
  for (const definition of listed) if (!byName.has(definition.name)) byName.set(definition.name, definition);
  return slicedSort([...byName.values()], (a, b) => (a.name < b.name ? -1 : 1), yieldIfDue);
}

/** For one whose identifier another server's has, too. */
export function withDistinctId(template: ResourceTemplate): ResourceTemplate {
  const id = distinctId({ server: template.server, uri: template.uriTemplate });
  return { ...template, id, idMatcher: UriTemplate.parse(id) };
}

/** What clients see. */
export function publicUriTemplate(
  { server, uriTemplate, id }: ResourceTemplate,
  style: ResourceStyle,
  isConflicting: boolean,
): string {
  if (style === 'resource' || isUi(uriTemplate) || (style === 'original' && isConflicting))
    return resourceForm({ server, uri: uriTemplate });
  return style === 'underscore' ? id : uriTemplate;
}

/** An instance of a template: the URI its server knows. */
export interface TemplateInstance {
  readonly template: ResourceTemplate;
  readonly uri: string;
}

/**
 * How many characters the matchers of one server look at, for one text. Templates come from servers and texts from
 * clients: without it, thousands of templates and one long text would hold everybody up. Each server has its own, so
 * that none takes away what another's are found by.
 */
const MOST_WORK = 2 ** 21;

/** What one server's templates have made of a text so far. */
interface Attempt {
  best?: TemplateInstance | undefined;
  work: number;
}

/**
 * What the most literal templates make of a text, read as a URI or as an identifier; of each server the first. When
 * there are several, it is not for the gateway to choose between them.
 */
export function bestInstances(
  templates: Iterable<ResourceTemplate>,
  text: string,
  form: 'uri' | 'id',
): readonly TemplateInstance[] {
  if (text === '') return [];
  const attempts = new Map<string, Attempt>();
  for (const template of templates) {
    const matcher = form === 'uri' ? template.matcher : template.idMatcher;
    if (!matcher || !mayMatch(matcher, text)) continue;
    const attempt = attempts.get(template.server) ?? { work: 0 };
    attempts.set(template.server, attempt);
    if (literalsOf(template) > literalsOf(attempt.best?.template))
      tryOne(attempt, template, matcher, text, form);
  }
  const found = [...attempts.values()].flatMap(({ best }) => best ?? []);
  const most = Math.max(...found.map(({ template }) => literalsOf(template)));
  return found.filter(({ template }) => literalsOf(template) === most);
}

function tryOne(
  attempt: Attempt,
  template: ResourceTemplate,
  matcher: UriTemplate,
  text: string,
  form: 'uri' | 'id',
): void {
  if (attempt.work > MOST_WORK) return;
  attempt.work += text.length * (matcher.expressions.length + 1);
  // What was found may not be the most literal: it is as if nothing was.
  if (attempt.work > MOST_WORK) attempt.best = undefined;
  else {
    const parts = matcher.match(text);
    if (parts) attempt.best = { template, uri: form === 'uri' ? text : template.matcher.fill(parts) };
  }
}

const literalsOf = (template: ResourceTemplate | undefined): number => template?.matcher.literalLength ?? -1;

/** Whether beginning and end fit, which costs nothing to see. */
const mayMatch = ({ literals }: UriTemplate, text: string): boolean =>
  text.startsWith(literals[0]!) && text.endsWith(literals.at(-1)!);

function findDuplicates(texts: readonly string[]): Set<string> {
  const seen = new Set<string>();
  return new Set(texts.filter((text) => seen.has(text) || !seen.add(text)));
}
