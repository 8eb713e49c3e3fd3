import type { Definition } from './name-table.js';
import { distinctId, isUi, resourceForm, underscoreId, type ResourceStyle } from './resource-uri.js';
import { UriTemplate } from './uri-template.js';

/** A template as its server listed it, ready to be matched in its own form and in that of its identifier. */
export interface ResourceTemplate {
  readonly server: string;
  readonly uriTemplate: string;
  readonly text: string;
  readonly id: string;
  readonly matcher: UriTemplate;
  readonly idMatcher: UriTemplate | undefined;
}

/** Of equal templates the first stays. Those that cannot be matched, or not within bounds, are left out. */
export function readTemplates(
  server: string,
  listed: readonly Definition[],
): { readonly templates: readonly ResourceTemplate[]; readonly refused: readonly string[] } {
  const templates = new Map<string, ResourceTemplate>();
  const refused: string[] = [];
  const ids = new Set<string>();
  for (const { name: uriTemplate, text } of listed) {
    if (templates.has(uriTemplate)) continue;
    const matcher = UriTemplate.parse(uriTemplate);
    if (!matcher) {
      refused.push(uriTemplate);
      continue;
    }
    const address = { server, uri: uriTemplate };
    const plainId = underscoreId(address);
    const id = ids.has(plainId) ? distinctId(address) : plainId;
    ids.add(id);
    templates.set(uriTemplate, {
      server,
      uriTemplate,
      text,
      id,
      matcher,
      idMatcher: UriTemplate.parse(id),
    });
  }
  return { templates: [...templates.values()], refused };
}

/** What clients see; `contested` when another server has the same. */
export function publicTemplate(
  { server, uriTemplate, id }: ResourceTemplate,
  style: ResourceStyle,
  contested: boolean,
): string {
  if (style === 'resource' || isUi(uriTemplate) || (style === 'original' && contested))
    return resourceForm({ server, uri: uriTemplate });
  return style === 'underscore' ? id : uriTemplate;
}

/** An instance of a template: the URI its server knows. */
export interface Instance {
  readonly template: ResourceTemplate;
  readonly uri: string;
}

/**
 * What the most literal template makes of a text, read as a URI or as an identifier. Undefined when none fits, and
 * when equally literal ones of two servers do: it is not for the gateway to choose between them.
 */
export function bestInstance(
  templates: Iterable<ResourceTemplate>,
  text: string,
  form: 'uri' | 'id',
): Instance | undefined {
  let best: Instance | undefined;
  let tied = false;
  for (const template of templates) {
    const lead = best ? literalLead(template, best.template) : 1;
    if (lead < 0 || (lead === 0 && template.server === best!.template.server)) continue;
    const uri = instanceOf(template, text, form);
    if (uri === undefined) continue;
    tied = lead === 0;
    if (!tied) best = { template, uri };
  }
  return tied ? undefined : best;
}

const literalLead = (a: ResourceTemplate, b: ResourceTemplate): number =>
  a.matcher.literalLength - b.matcher.literalLength;

function instanceOf(
  { matcher, idMatcher }: ResourceTemplate,
  text: string,
  form: 'uri' | 'id',
): string | undefined {
  if (form === 'uri') return matcher.match(text) && text;
  const parts = idMatcher?.match(text);
  return parts && matcher.fill(parts);
}
