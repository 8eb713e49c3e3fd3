interface Match {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds any number of words in a text in one pass (Aho-Corasick). The time is linear in the length of the text and
 * independent of the number of words. Each state of the automaton stands for a prefix of a word, and state 0 for the empty
 * prefix. The text that has been read may end with several of these prefixes: the current state stands for the longest.
 */
export class SubstringSet {
  /** By state: the following state for each code unit that continues the prefix. */
  private readonly next: Map<number, number>[] = [new Map()];
  /**
   * By state: the state to go on from if `next` has no state for a code unit. It stands for the longest of the other
   * prefixes with which the prefix of this state ends.
   */
  private readonly suffix: number[] = [0];
  /** By state: the length of the longest word with which the prefix of this state ends; 0 if there is none. */
  private readonly longest: number[] = [0];
  /** By code unit: 1 if a word begins with this code unit. Most of a text is skipped with this table alone. */
  private readonly isFirst = new Uint8Array(0x10000);

  constructor(words: Iterable<string>) {
    for (const word of words) this.add(word);
    this.linkSuffixes();
  }

  /** The text with every word replaced. Words that overlap are replaced as one. */
  replaceIn(text: string, replacement: string): string {
    const matches = this.matchesIn(text);
    if (matches.length === 0) return text;
    let result = '';
    let copiedTo = 0;
    for (const { start, end } of matches) {
      result += text.slice(copiedTo, start) + replacement;
      copiedTo = end;
    }
    return result + text.slice(copiedTo);
  }

  private matchesIn(text: string): readonly Match[] {
    const { next, suffix, longest, isFirst } = this;
    const matches: Match[] = [];
    let state = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (state === 0 && isFirst[code] === 0) continue;
      let following = next[state]!.get(code);
      while (following === undefined && state !== 0) {
        state = suffix[state]!;
        following = next[state]!.get(code);
      }
      state = following ?? 0;
      const length = longest[state]!;
      if (length > 0) addMatch(matches, at + 1 - length, at + 1);
    }
    return matches;
  }

  private add(word: string): void {
    if (word === '') return;
    let state = 0;
    this.isFirst[word.charCodeAt(0)] = 1;
    for (let at = 0; at < word.length; at++) {
      const code = word.charCodeAt(at);
      let following = this.next[state]!.get(code);
      if (following === undefined) {
        following = this.next.push(new Map()) - 1;
        this.suffix.push(0);
        this.longest.push(0);
        this.next[state]!.set(code, following);
      }
      state = following;
    }
    this.longest[state] = word.length;
  }

  /** Visits the states breadth first, because the suffix of a state is shorter and has to be linked first. */
  private linkSuffixes(): void {
    const { next, suffix, longest } = this;
    const queue = [...next[0]!.values()];
    for (const state of queue) {
      for (const [code, following] of next[state]!) {
        let from = suffix[state]!;
        while (from !== 0 && !next[from]!.has(code)) from = suffix[from]!;
        suffix[following] = next[from]!.get(code) ?? 0;
        if (longest[following] === 0) longest[following] = longest[suffix[following]]!;
        queue.push(following);
      }
    }
  }
}

/** Adds a match and merges it with the earlier matches that it overlaps. Matches are added in the order of their ends. */
function addMatch(matches: Match[], start: number, end: number): void {
  let from = start;
  for (let last = matches.at(-1); last && last.end > from; last = matches.at(-1)) {
    from = Math.min(from, last.start);
    matches.pop();
  }
  matches.push({ start: from, end });
}
