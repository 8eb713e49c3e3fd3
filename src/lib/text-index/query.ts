import { tokenize, type Token } from './tokenizer.js';

export interface QueryTerm {
  readonly text: string;
  /** Whether longer terms that start with this one match too. */
  readonly isPrefix: boolean;
  /** The parts of the query that the term covers, as bits: several for a whole token like `getUserProfile`. */
  readonly coverage: number;
}

export interface Query {
  readonly terms: readonly QueryTerm[];
  /** All parts, as bits. */
  readonly fullCoverage: number;
}

const MAX_QUERY_LENGTH = 256;
const MAX_QUERY_PARTS = 12;

/** `isPrefix` decides for a term whether longer terms match too; `isLast` is true for the last one. */
export function parseQuery(text: string, isPrefix: (term: string, isLast: boolean) => boolean): Query {
  const tokens = withinLimit(distinct(tokenize(text.slice(0, MAX_QUERY_LENGTH))));
  const terms: QueryTerm[] = [];
  let partCount = 0;
  for (const [index, { whole, parts }] of tokens.entries()) {
    const isLast = index === tokens.length - 1;
    const firstPart = partCount;
    for (const [position, part] of parts.entries()) {
      const isLastPart = isLast && position === parts.length - 1;
      terms.push({ text: part, isPrefix: isPrefix(part, isLastPart), coverage: 1 << partCount++ });
    }
    const coverage = (1 << partCount) - (1 << firstPart);
    if (parts.length > 1) terms.push({ text: whole, isPrefix: isPrefix(whole, isLast), coverage });
  }
  return { terms, fullCoverage: (1 << partCount) - 1 };
}

/** Removes duplicates. The last token is always kept, because it may be the start of a longer one. */
function distinct(tokens: readonly Token[]): Token[] {
  const before = new Map(tokens.slice(0, -1).map((token) => [token.whole, token]));
  return [...before.values(), ...tokens.slice(-1)];
}

/** Limits the number of parts. A token with more parts than remain is searched as a whole. */
function withinLimit(tokens: readonly Token[]): Token[] {
  let remaining = MAX_QUERY_PARTS;
  return tokens.slice(0, MAX_QUERY_PARTS).flatMap((token) => {
    if (remaining === 0) return [];
    const parts = token.parts.length <= remaining ? token.parts : [token.whole];
    remaining -= parts.length;
    return [{ whole: token.whole, parts }];
  });
}

export function bitCount(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}
