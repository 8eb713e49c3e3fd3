import { matcherOf, type Expression, type Operator } from './expression-matcher.js';
import { MatchSubject, type ExpressionMatcher, type Variable } from './match-subject.js';

/** Limits of an accepted template: the cost of a match grows with each of them. */
export const MAX_EXPRESSIONS = 16;
const MAX_VARIABLES = 32;
const MAX_TEMPLATE_LENGTH = 8192;
const MAX_EXPRESSION_LENGTH = 2048;

/** A hyphen is accepted although RFC 6570 has none in names, because servers use it and it has no other meaning. */
const NAME = '(?:[A-Za-z0-9_-]|%[0-9A-Fa-f]{2})(?:\\.?(?:[A-Za-z0-9_-]|%[0-9A-Fa-f]{2}))*';
const VARIABLE = `${NAME}(?:\\*|:[1-9][0-9]{0,3})?`;
const EXPRESSION = new RegExp(`^\\{[+#./;?&]?${VARIABLE}(?:,${VARIABLE})*\\}$`);

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Literals and expressions alternate; the first and the last part is a literal, which may be empty. */
interface TemplateParts {
  readonly literals: readonly string[];
  readonly expressions: readonly string[];
}

/**
 * An RFC 6570 template that can be matched against URIs. Templates and URIs are untrusted, so a match takes time linear
 * in the URI: one pass backwards and one forwards for each expression.
 */
export class UriTemplate {
  readonly literals: readonly string[];
  /** The expressions as they are written, with braces. */
  readonly expressions: readonly string[];
  /** Sum of the lengths of all literals. Of two templates that match, the one with the larger sum is more specific. */
  readonly literalLength: number;
  private readonly matchers: readonly ExpressionMatcher[];

  private constructor(
    readonly text: string,
    { literals, expressions }: TemplateParts,
  ) {
    this.literals = literals;
    this.expressions = expressions;
    this.literalLength = literals.reduce((sum, literal) => sum + literal.length, 0);
    // A value may be empty after `=`, as in `?q=`. At another place, a URI without the value names another resource.
    this.matchers = expressions.map((expression, index) =>
      matcherOf(readExpression(expression), literals[index]!.endsWith('=')),
    );
  }

  /** Undefined when the text is not a template, or exceeds the limits. */
  static parse(text: string): UriTemplate | undefined {
    const parts = splitTemplate(text);
    return parts && new UriTemplate(text, parts);
  }

  /**
   * Returns the raw text that the URI has in place of each expression, operator included. Returns undefined when the URI
   * does not match. If several matches are possible, the first expression takes as much text as it can, then the second,
   * and so on.
   */
  match(uri: string): readonly string[] | undefined {
    const head = this.literals[0]!;
    const tail = this.literals.at(-1)!;
    if (this.matchers.length === 0) return uri === head ? [] : undefined;
    const end = uri.length - tail.length;
    if (end < head.length || !uri.startsWith(head) || !uri.endsWith(tail)) return undefined;
    const subject = new MatchSubject(uri.slice(head.length, end));
    const ends = this.possibleEnds(subject);
    return ends && this.partsOf(subject, ends);
  }

  /** The URI with these parts in place of the expressions. */
  fill(parts: readonly string[]): string {
    return this.literals.map((literal, index) => literal + (parts[index] ?? '')).join('');
  }

  /**
   * For each expression, the positions at which it may end so that the rest of the template matches. Undefined when there
   * is no match.
   */
  private possibleEnds(subject: MatchSubject): Uint8Array[] | undefined {
    const all: Uint8Array[] = [];
    let ends: Uint8Array = new Uint8Array(subject.text.length + 1);
    ends[subject.text.length] = 1;
    for (let index = this.matchers.length - 1; ; index--) {
      all[index] = ends;
      const starts = this.matchers[index]!.starts(subject, ends);
      if (index === 0) return starts[0] === 1 ? all : undefined;
      ends = subject.positionsBefore(this.literals[index]!, starts);
      if (!ends.includes(1)) return undefined;
    }
  }

  private partsOf(subject: MatchSubject, ends: readonly Uint8Array[]): string[] {
    let start = 0;
    return this.matchers.map((matcher, index) => {
      const end = matcher.farthestEnd(subject, start, ends[index]!);
      const part = subject.text.slice(start, end);
      start = end + this.literals[index + 1]!.length;
      return part;
    });
  }
}

function splitTemplate(text: string): TemplateParts | undefined {
  if (text.length > MAX_TEMPLATE_LENGTH) return undefined;
  const literals: string[] = [];
  const expressions: string[] = [];
  let variables = 0;
  let at = 0;
  for (;;) {
    const open = text.indexOf('{', at);
    const literal = text.slice(at, open === -1 ? text.length : open);
    if (literal.includes('}')) return undefined;
    literals.push(literal);
    if (open === -1) return { literals, expressions };
    const end = expressionEnd(text, open);
    if (end === -1 || expressions.length === MAX_EXPRESSIONS) return undefined;
    const expression = text.slice(open, end);
    variables += expression.split(',').length;
    if (variables > MAX_VARIABLES) return undefined;
    expressions.push(expression);
    at = end;
  }
}

/**
 * The end of the expression that begins at `open`; -1 if there is no valid expression. Does not read beyond a second `{`.
 */
export function expressionEnd(text: string, open: number): number {
  const limit = Math.min(text.length, open + MAX_EXPRESSION_LENGTH);
  for (let at = open + 1; at < limit; at++) {
    const code = text.charCodeAt(at);
    if (code === OPEN_BRACE) return -1;
    if (code === CLOSE_BRACE) return EXPRESSION.test(text.slice(open, at + 1)) ? at + 1 : -1;
  }
  return -1;
}

/** Parses an expression that `expressionEnd` has accepted. */
export function readExpression(expression: string): Expression {
  const operator = /^\{([+#./;?&]?)/.exec(expression)![1] as Operator;
  const variables = expression.slice(1 + operator.length, -1).split(',');
  return { operator, variables: variables.map(readVariable) };
}

function readVariable(text: string): Variable {
  if (text.endsWith('*')) return { name: text.slice(0, -1), maxLength: Infinity, explode: true };
  const [name, limit] = text.split(':');
  return { name: name!, maxLength: limit === undefined ? Infinity : Number(limit), explode: false };
}
