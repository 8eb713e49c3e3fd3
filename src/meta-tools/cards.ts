import {
  resourceText,
  templateText,
  type PublicResource,
  type PublicTemplate,
} from '../core/resources/public-resource.js';
import type { CatalogEntry, ListedEntry } from '../core/naming/name-table.js';

/** Just enough of something to choose it by. */
export type Card = Readonly<Record<string, unknown>>;

type Definition = Readonly<Record<string, unknown>>;

const parse = (text: string): Definition => JSON.parse(text) as Definition;

/** The members that are there, and are what they should be. */
function pick(definition: Definition, kinds: Readonly<Record<string, 'string' | 'number'>>): Card {
  return Object.fromEntries(
    Object.entries(kinds).flatMap(([key, kind]) => {
      const value = definition[key];
      return typeof value === kind ? [[key, value]] : [];
    }),
  );
}

export const resourceCard = ({ uri, resource: { server, text } }: PublicResource): Card => ({
  uri,
  ...pick(parse(text), { name: 'string', title: 'string', mimeType: 'string', size: 'number' }),
  serverId: server,
});

export const templateCard = ({ uriTemplate, template: { server, text } }: PublicTemplate): Card => ({
  uriTemplate,
  ...pick(parse(text), { name: 'string', title: 'string', description: 'string', mimeType: 'string' }),
  serverId: server,
});

export const toolCard = ({ publicName, server, definition }: ListedEntry): Card => ({
  name: publicName,
  ...pick(parse(definition.text), { title: 'string', description: 'string' }),
  serverId: server,
});

export const wholeResource = (seen: PublicResource): Definition => parse(resourceText(seen));
export const wholeTemplate = (seen: PublicTemplate): Definition => parse(templateText(seen));
export const wholeTool = ({ text }: CatalogEntry): Definition => parse(text);
