import {
  resourceText,
  templateText,
  type SeenResource,
  type SeenTemplate,
} from '../core/resources/seen-resource.js';
import type { Entry, ListedEntry } from '../core/naming/name-table.js';

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

export const resourceCard = ({ uri, resource: { server, text } }: SeenResource): Card => ({
  uri,
  ...pick(parse(text), { name: 'string', title: 'string', mimeType: 'string', size: 'number' }),
  serverId: server,
});

export const templateCard = ({ uriTemplate, template: { server, text } }: SeenTemplate): Card => ({
  uriTemplate,
  ...pick(parse(text), { name: 'string', title: 'string', description: 'string', mimeType: 'string' }),
  serverId: server,
});

export const toolCard = ({ name, server, definition }: ListedEntry): Card => ({
  name,
  ...pick(parse(definition.text), { title: 'string', description: 'string' }),
  serverId: server,
});

export const wholeResource = (seen: SeenResource): Definition => parse(resourceText(seen));
export const wholeTemplate = (seen: SeenTemplate): Definition => parse(templateText(seen));
export const wholeTool = ({ text }: Entry): Definition => parse(text);
