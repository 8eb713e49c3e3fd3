import type { SearchFields } from '../lib/text-index/weights.js';

const FIELDS = ['name', 'title', 'description', 'uri', 'mimeType'] as const;

/** What of a definition is searched. */
export function fieldsOf(text: string): SearchFields {
  const definition = JSON.parse(text) as Record<string, unknown>;
  return Object.fromEntries(
    FIELDS.flatMap((field) => {
      const value = definition[field];
      return typeof value === 'string' ? [[field, value]] : [];
    }),
  );
}
