import { wordsOf } from './words.js';

/** What a document is found by. */
export interface SearchFields {
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly uri?: string | undefined;
  readonly mimeType?: string | undefined;
}

interface FieldRule {
  readonly field: keyof SearchFields;
  /** What a word in it can weigh at most, however often it is there. */
  readonly boost: number;
  /** How many words it usually has. A word weighs less among more. */
  readonly usual: number;
}

const RULES: readonly FieldRule[] = [
  { field: 'name', boost: 4, usual: 3 },
  { field: 'title', boost: 3, usual: 4 },
  { field: 'uri', boost: 1.5, usual: 8 },
  { field: 'description', boost: 1, usual: 16 },
  { field: 'mimeType', boost: 1, usual: 2 },
];
/** The two constants of BM25: how soon repeating a word stops to help, and how much the length counts. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.5;

const MOST_CHARACTERS = 8192;
/** A weight is kept in one byte. */
const STEPS = 32;
export const MOST_WEIGHT = 255;

/**
 * The words of a document, and how much each says about it, as a number from 1 to 255. It depends on nothing but
 * the document (the usual lengths stand for the average ones), so that it never changes and no other one shows in it.
 */
export function weigh(fields: SearchFields): Map<string, number> {
  const weights = new Map<string, number>();
  for (const { field, boost, usual } of RULES) {
    const text = fields[field];
    if (!text) continue;
    const words = wordsOf(readable(field, text.slice(0, MOST_CHARACTERS)));
    const slowness = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * (words.length / usual));
    for (const [word, count] of counted(words))
      weights.set(word, (weights.get(word) ?? 0) + (boost * count) / (count + slowness));
  }
  for (const [word, weight] of weights) weights.set(word, inSteps(weight));
  return weights;
}

const inSteps = (weight: number): number => Math.min(MOST_WEIGHT, Math.max(1, Math.round(weight * STEPS)));

/** People search for the letters, not for their codes. */
function readable(field: keyof SearchFields, text: string): string {
  if (field !== 'uri' || !text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function counted(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
