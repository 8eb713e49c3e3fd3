import type { IndexedField } from '../lib/text-index/term-weights.js';

/** The fields of a definition that are searched, and how much a term in each of them counts. */
export const SEARCH_SCHEMA: readonly IndexedField[] = [
  { name: 'name', boost: 4, usualLength: 3 },
  { name: 'server', boost: 1.5, usualLength: 2 },
  { name: 'title', boost: 2, usualLength: 4 },
  { name: 'uri', boost: 1.5, usualLength: 8, isUri: true },
  { name: 'description', boost: 1, usualLength: 16 },
  { name: 'mimeType', boost: 1, usualLength: 2 },
];
const FIELDS = ['name', 'title', 'description', 'uri', 'mimeType'] as const;

type SearchFields = Partial<Record<(typeof FIELDS)[number], string>>;

/** The searchable members of a definition. */
export function searchFieldsOf(text: string): SearchFields {
  const definition = JSON.parse(text) as Record<string, unknown>;
  return Object.fromEntries(
    FIELDS.flatMap((field) => {
      const value = definition[field];
      return typeof value === 'string' ? [[field, value]] : [];
    }),
  );
}
