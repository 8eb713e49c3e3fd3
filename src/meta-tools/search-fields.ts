import type { IndexedField } from '../lib/text-index/term-weights.js';

/** The fields of a definition that are searched, and how much a term in each of them counts. */
export const SEARCH_SCHEMA: readonly IndexedField[] = [
  { name: 'name', boost: 4, usualLength: 3 },
  { name: 'server', boost: 1.5, usualLength: 2 },
  { name: 'title', boost: 2, usualLength: 4 },
  { name: 'uri', boost: 1.5, usualLength: 8, isUri: true },
  { name: 'summary', boost: 1.5, usualLength: 8 },
  { name: 'description', boost: 0.25, usualLength: 16 },
  { name: 'mimeType', boost: 1, usualLength: 2 },
];
const FIELDS = ['name', 'title', 'description', 'uri', 'mimeType'] as const;

type SearchFields = Partial<Record<(typeof FIELDS)[number], string>>;

/** Maximum characters of a summary. The rest of a longer first sentence counts as description. */
const MAX_SUMMARY_LENGTH = 300;
const SENTENCE_END = /[.!?](?=\s)|\n\s*\n/;

/**
 * Splits a description after its first sentence, which says what a tool is for (`summary`). The rest says how it is
 * used, and often names other tools. Therefore terms in the summary count more.
 */
export function splitDescription(text = ''): { readonly summary: string; readonly description: string } {
  const trimmed = text.trimStart();
  const head = trimmed.slice(0, MAX_SUMMARY_LENGTH);
  const end = SENTENCE_END.exec(head)?.index ?? head.length;
  return { summary: trimmed.slice(0, end), description: trimmed.slice(end) };
}

/** The searchable members of a definition, which is given as JSON. */
export function searchFieldsOf(text: string): SearchFields {
  const definition = JSON.parse(text) as Record<string, unknown>;
  return Object.fromEntries(
    FIELDS.flatMap((field) => {
      const value = definition[field];
      return typeof value === 'string' ? [[field, value]] : [];
    }),
  );
}
