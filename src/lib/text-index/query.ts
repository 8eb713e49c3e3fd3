import { isStopWord } from './stop-words.js';
import { tokenize, type Token } from './tokenizer.js';
import { wordFormsOf } from './word-forms.js';

export interface QueryTerm {
  readonly text: string;
  /** Whether longer terms that start with this one match too. */
  readonly isPrefix: boolean;
  /** Other terms that match too: inflected forms of the same word. */
  readonly forms: readonly string[];
  /**
   * The parts of the query that the term covers, one bit for each part. A whole token like `getUserProfile` covers several.
   */
  readonly coverage: number;
}

export interface Query {
  readonly terms: readonly QueryTerm[];
  /** The bits of all parts of the query. */
  readonly fullCoverage: number;
}

const MAX_QUERY_LENGTH = 256;
const MAX_QUERY_PARTS = 12;
/**
 * In a ranked search, a shorter term is a prefix only if it is the last term of the query. The last term may be incomplete.
 */
const MIN_PREFIX_LENGTH = 3;
/** In a ranked search, a shorter token is not divided into parts, because parts of `s3` or `v2` alone have no meaning. */
const MIN_DIVIDED_LENGTH = 4;

interface TermRules {
  readonly isPrefix: (term: string, isLast: boolean) => boolean;
  readonly formsOf: (term: string) => readonly string[];
}

/** The query of a filter: every term matches only as it is written, except that the last term is a prefix. */
export function parseQuery(text: string): Query {
  return queryOf(tokensOf(text), { isPrefix: (_term, isLast) => isLast, formsOf: () => [] });
}

/**
 * The query of a ranked search. Inflected forms of a word match too. Stop words are left out if the query has other words.
 */
export function parseRankedQuery(text: string): Query {
  const tokens = tokensOf(text);
  const words = tokens.filter(({ whole }) => !isStopWord(whole));
  return queryOf((words.length > 0 ? words : tokens).map(undividedIfShort), {
    isPrefix: (term, isLast) => isLast || term.length >= MIN_PREFIX_LENGTH,
    formsOf: wordFormsOf,
  });
}

const undividedIfShort = ({ whole, parts }: Token): Token => ({
  whole,
  parts: whole.length < MIN_DIVIDED_LENGTH ? [whole] : parts,
});

const tokensOf = (text: string): Token[] => tokenize(text.slice(0, MAX_QUERY_LENGTH));

function queryOf(allTokens: readonly Token[], { isPrefix, formsOf }: TermRules): Query {
  const tokens = withinLimit(distinct(allTokens));
  const terms: QueryTerm[] = [];
  let partCount = 0;
  for (const [index, { whole, parts }] of tokens.entries()) {
    const isLast = index === tokens.length - 1;
    const firstPart = partCount;
    for (const [position, part] of parts.entries()) {
      const isLastPart = isLast && position === parts.length - 1;
      const coverage = 1 << partCount;
      partCount++;
      terms.push({ text: part, isPrefix: isPrefix(part, isLastPart), forms: formsOf(part), coverage });
    }
    const bitsOfParts = (1 << partCount) - (1 << firstPart);
    if (parts.length > 1)
      terms.push({ text: whole, isPrefix: isPrefix(whole, isLast), forms: [], coverage: bitsOfParts });
  }
  return { terms, fullCoverage: (1 << partCount) - 1 };
}

/** Removes duplicates. The last token is kept even if it is a duplicate, because it may be the start of a longer word. */
function distinct(tokens: readonly Token[]): Token[] {
  const before = new Map(tokens.slice(0, -1).map((token) => [token.whole, token]));
  return [...before.values(), ...tokens.slice(-1)];
}

/** Limits the number of parts. A token with more parts than the limit leaves is searched as a whole. */
function withinLimit(tokens: readonly Token[]): Token[] {
  let remaining = MAX_QUERY_PARTS;
  return tokens.slice(0, MAX_QUERY_PARTS).flatMap((token) => {
    if (remaining === 0) return [];
    const parts = token.parts.length <= remaining ? token.parts : [token.whole];
    remaining -= parts.length;
    return [{ whole: token.whole, parts }];
  });
}

/** Number of bits that are 1. */
export function bitCount(bits: number): number {
  let count = 0;
  for (let remaining = bits; remaining !== 0; remaining >>>= 1) count += remaining & 1;
  return count;
}
