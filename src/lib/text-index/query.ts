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

/** Each once, and the last one, which may still be being typed, in any case. */
function distinct(chunks: readonly Chunk[]): Chunk[] {
  const before = new Map(chunks.slice(0, -1).map((chunk) => [chunk.whole, chunk]));
  return [...before.values(), ...chunks.slice(-1)];
}

/** One that has too many parts for the rest of the room is sought as a whole. */
function withinLimit(chunks: readonly Chunk[]): Chunk[] {
  let room = MOST_PARTS;
  return chunks.slice(0, MOST_PARTS).flatMap((chunk) => {
    if (room === 0) return [];
    const parts = chunk.parts.length <= room ? chunk.parts : [chunk.whole];
    room -= parts.length;
    return [{ whole: chunk.whole, parts }];
  });
}

export function bitsIn(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}
