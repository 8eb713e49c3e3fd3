/** As many as a number of two bytes tells apart. Of more, the rest is of no kind. */
const MOST_KINDS = 0x10000;

/** What documents can be searched by beside their words, as numbers: a look at every document would take longer. */
export class Kinds {
  private readonly names = [''];
  private readonly numbers = new Map([['', 0]]);

  numberOf(name: string): number {
    const known = this.numbers.get(name);
    if (known !== undefined) return known;
    if (this.names.length === MOST_KINDS) return 0;
    const number = this.names.push(name) - 1;
    this.numbers.set(name, number);
    return number;
  }

  /** By number, 1 for those that pass. */
  passing(test: (name: string) => boolean): Uint8Array {
    return Uint8Array.from(this.names, (name) => (test(name) ? 1 : 0));
  }
}
