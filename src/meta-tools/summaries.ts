import {
  resourceText,
  templateText,
  type PublicResource,
  type PublicTemplate,
} from '../core/resources/public-resource.js';
import type { Era } from '../core/errors.js';
import type { CatalogEntry, ListedEntry } from '../core/naming/catalog-entry.js';

/** The members of a definition that a model needs to choose among tools or resources. */
type Summary = Readonly<Record<string, unknown>>;

type ParsedDefinition = Readonly<Record<string, unknown>>;

const parse = (text: string): ParsedDefinition => JSON.parse(text) as ParsedDefinition;

/** Picks the members that `types` names. A member of another type is left out. */
function pickMembers(
  definition: ParsedDefinition,
  types: Readonly<Record<string, 'string' | 'number'>>,
): Summary {
  return Object.fromEntries(
    Object.entries(types).flatMap(([key, type]) => {
      const value = definition[key];
      return typeof value === type ? [[key, value]] : [];
    }),
  );
}

export const resourceSummary = ({ uri, resource: { server, text } }: PublicResource): Summary => ({
  uri,
  ...pickMembers(parse(text), { name: 'string', title: 'string', mimeType: 'string', size: 'number' }),
  serverId: server,
});

export const templateSummary = ({ uriTemplate, template: { server, text } }: PublicTemplate): Summary => ({
  uriTemplate,
  ...pickMembers(parse(text), { name: 'string', title: 'string', description: 'string', mimeType: 'string' }),
  serverId: server,
});

export const toolSummary = ({ publicName, server, definition }: ListedEntry): Summary => ({
  name: publicName,
  ...pickMembers({ ...definition }, { title: 'string', description: 'string' }),
  serverId: server,
});

export const resourceDefinition = (resource: PublicResource): ParsedDefinition =>
  parse(resourceText(resource));
export const templateDefinition = (template: PublicTemplate): ParsedDefinition =>
  parse(templateText(template));
export const toolDefinition = (tool: CatalogEntry, era: Era): ParsedDefinition => parse(tool.textFor(era));
