import { spanOf } from './uri-template-operators.js';
import { readExpression, splitTemplate, type Template } from './uri-template-parser.js';
import { codesOf, Subject, type Span } from './uri-template-span.js';

/**
 * A template of RFC 6570 that finds its expressions in a URI. Template and URI both come from outside, so that a
 * match takes one pass over the URI backwards and one forwards for each expression, whatever they are.
 */
export class UriTemplate {
  readonly literals: readonly string[];
  /** With braces, as written. */
  readonly expressions: readonly string[];
  /** How much of it is literal: the more, the more specific. */
  readonly literalLength: number;
  private readonly spans: readonly Span[];

  private constructor(
    readonly text: string,
    { literals, expressions }: Template,
  ) {
    this.literals = literals;
    this.expressions = expressions;
    this.literalLength = literals.reduce((sum, literal) => sum + literal.length, 0);
    // `?q=` is a query with nothing in it; anywhere else, nothing is a segment left out and another resource.
    this.spans = expressions.map((expression, index) =>
      spanOf(readExpression(expression), literals[index]!.endsWith('=')),
    );
  }

  /** Undefined when it is no template, or a hostile one. */
  static parse(text: string): UriTemplate | undefined {
    const template = splitTemplate(text);
    return template && new UriTemplate(text, template);
  }

  /**
   * What stands in the place of each expression, raw, operator included; undefined when the URI does not match.
   * Where several matches are possible the first expression takes as much as it can, then the second, and so on.
   */
  match(uri: string): readonly string[] | undefined {
    const head = this.literals[0]!;
    const tail = this.literals.at(-1)!;
    if (this.spans.length === 0) return uri === head ? [] : undefined;
    const end = uri.length - tail.length;
    if (end < head.length || !uri.startsWith(head) || !uri.endsWith(tail)) return undefined;
    const subject = new Subject(uri.slice(head.length, end));
    const ends = this.endsOf(subject);
    return ends && this.partsOf(subject, ends);
  }

  /** The URI that has these in the place of the expressions. */
  fill(parts: readonly string[]): string {
    return this.literals.map((literal, index) => literal + (parts[index] ?? '')).join('');
  }

  /** Of each expression, where it may end so that all after it can follow; undefined when there is no way. */
  private endsOf(subject: Subject): Uint8Array[] | undefined {
    const all: Uint8Array[] = [];
    let ends: Uint8Array = new Uint8Array(subject.text.length + 1);
    ends[subject.text.length] = 1;
    for (let index = this.spans.length - 1; ; index--) {
      all[index] = ends;
      const starts = this.spans[index]!.starts(subject, ends);
      if (index === 0) return starts[0] === 1 ? all : undefined;
      ends = placesBefore(subject.codes, this.literals[index]!, starts);
      if (!ends.includes(1)) return undefined;
    }
  }

  private partsOf(subject: Subject, ends: readonly Uint8Array[]): string[] {
    let start = 0;
    return this.spans.map((span, index) => {
      const end = span.farthest(subject, start, ends[index]!);
      const part = subject.text.slice(start, end);
      start = end + this.literals[index + 1]!.length;
      return part;
    });
  }
}

/** The places where the literal stands and one of `starts` follows. Reads every character once (Knuth-Morris-Pratt). */
function placesBefore(codes: Uint16Array, literal: string, starts: Uint8Array): Uint8Array {
  if (literal === '') return starts;
  const places = new Uint8Array(starts.length);
  const wanted = codesOf(literal);
  const borders = bordersOf(wanted);
  let matched = 0;
  for (let at = 0; at < codes.length - 1; at++) {
    matched = extend(wanted, borders, matched, codes[at]!);
    if (matched < literal.length) continue;
    places[at + 1 - matched] = starts[at + 1]!;
    matched = borders[matched]!;
  }
  return places;
}

/** Of each beginning of the literal, how much of it is the literal's beginning once more at its end. */
function bordersOf(literal: Uint16Array): Uint32Array {
  const borders = new Uint32Array(literal.length);
  for (let at = 1; at < literal.length - 1; at++)
    borders[at + 1] = extend(literal, borders, borders[at]!, literal[at]!);
  return borders;
}

/** How much of the literal has been read after one more character. */
function extend(literal: Uint16Array, borders: Uint32Array, read: number, code: number): number {
  let matched = read;
  while (matched > 0 && literal[matched] !== code) matched = borders[matched]!;
  return literal[matched] === code ? matched + 1 : matched;
}
