import { termsOf } from './tokenizer.js';

/** The texts of a document by field name. */
export type DocumentFields = Readonly<Record<string, string | undefined>>;

export interface IndexedField {
  readonly name: string;
  /** Upper limit of the weight of a term in this field, even if the term occurs very often. */
  readonly boost: number;
  /** Usual number of terms in this field. A term weighs less in a longer field. */
  readonly usualLength: number;
  /** Whether the text is a URI, which is decoded before it is tokenized. */
  readonly isUri?: boolean;
}

/**
 * The constants k1 and b of BM25: how slowly the weight grows with repetition, and how much the length of the field counts.
 */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;

/** When a term occurs in two fields, this part of the lower weight is added to the higher one. */
const REPEATED_SHARE = 0.1;

const MAX_FIELD_LENGTH = 8192;
/** A weight is stored in one byte as a number of steps. */
const MAX_WEIGHT = 255;
/** A weight of 1 is stored as this number of steps. */
export const STEPS_PER_UNIT = 32;

/**
 * The terms of a document with their weights in steps, integers from 1 to 255. The weight of a term comes mainly from the
 * field in which it weighs most; the other fields add little, because titles and descriptions repeat names.
 *
 * The weights are computed as in BM25F, but with the usual length of a field instead of the average length in all
 * documents. So a weight depends only on its document: it never changes, and it reveals nothing about other documents.
 */
export function termWeights(schema: readonly IndexedField[], fields: DocumentFields): Map<string, number> {
  const weights = new Map<string, number>();
  for (const { name, boost, usualLength, isUri } of schema) {
    const text = fields[name]?.slice(0, MAX_FIELD_LENGTH);
    if (!text) continue;
    const terms = termsOf(isUri ? decodeUri(text) : text);
    const saturation = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * (terms.length / usualLength));
    for (const [term, count] of frequencies(terms))
      weights.set(term, combine(weights.get(term) ?? 0, (boost * count) / (count + saturation)));
  }
  for (const [term, weight] of weights) weights.set(term, quantize(weight));
  return weights;
}

/** The weight of a term from its weights in two fields. */
const combine = (a: number, b: number): number => Math.max(a, b) + REPEATED_SHARE * Math.min(a, b);

const quantize = (weight: number): number =>
  Math.min(MAX_WEIGHT, Math.max(1, Math.round(weight * STEPS_PER_UNIT)));

function decodeUri(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function frequencies(terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}
