import { chunksOf, type Chunk } from './words.js';

/** One word that is searched for. */
export interface QueryWord {
  readonly text: string;
  /** Whether longer words that start so count too. */
  readonly isPrefix: boolean;
  /** Which parts of the query are met by it, as bits: one for a part, several for a whole like `getUserProfile`. */
  readonly covers: number;
}

export interface Query {
  readonly words: readonly QueryWord[];
  /** All parts, as bits. */
  readonly all: number;
}

const MOST_CHARACTERS = 256;
const MOST_PARTS = 12;

/** `isPrefix` says of a word, and of whether it is the last one, whether longer words count too. */
export function parseQuery(text: string, isPrefix: (word: string, isLast: boolean) => boolean): Query {
  const chunks = withinLimit(distinct(chunksOf(text.slice(0, MOST_CHARACTERS))));
  const words: QueryWord[] = [];
  let bits = 0;
  for (const [index, { whole, parts }] of chunks.entries()) {
    const isLast = index === chunks.length - 1;
    const before = bits;
    for (const [place, part] of parts.entries()) {
      const isLastPart = isLast && place === parts.length - 1;
      words.push({ text: part, isPrefix: isPrefix(part, isLastPart), covers: 1 << bits++ });
    }
    const covers = (1 << bits) - (1 << before);
    if (parts.length > 1) words.push({ text: whole, isPrefix: isPrefix(whole, isLast), covers });
  }
  return { words, all: (1 << bits) - 1 };
}

/** The last of each, so that what is being typed stays last. */
function distinct(chunks: readonly Chunk[]): Chunk[] {
  const last = new Map(chunks.map(({ whole }, index) => [whole, index]));
  return chunks.filter(({ whole }, index) => last.get(whole) === index);
}

function withinLimit(chunks: readonly Chunk[]): Chunk[] {
  let parts = 0;
  return chunks.filter((chunk) => {
    if (parts + chunk.parts.length > MOST_PARTS) return false;
    parts += chunk.parts.length;
    return true;
  });
}

export function bitsIn(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}
