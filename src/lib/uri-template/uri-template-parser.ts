/** One variable of an expression; `most` is how many characters of its value are taken. */
export interface Variable {
  readonly name: string;
  readonly most: number;
  readonly explode: boolean;
}

export type Operator = '' | '+' | '#' | '.' | '/' | ';' | '?' | '&';

export interface Expression {
  readonly operator: Operator;
  readonly variables: readonly Variable[];
}

/** Text and expressions take turns; there is one literal more than there are expressions, though it may be empty. */
export interface Template {
  readonly literals: readonly string[];
  readonly expressions: readonly string[];
}

/** More than any honest template has: what a match costs grows with both. */
export const MOST_EXPRESSIONS = 16;
const MOST_VARIABLES = 32;
/** No longer URI is accepted, so that no longer template could be of use. */
const LONGEST_TEMPLATE = 8192;
const LONGEST_EXPRESSION = 2048;

/** The RFC has no hyphen in a name, but servers do, and nothing else it could mean. */
const NAME = '(?:[A-Za-z0-9_-]|%[0-9A-Fa-f]{2})(?:\\.?(?:[A-Za-z0-9_-]|%[0-9A-Fa-f]{2}))*';
const VARIABLE = `${NAME}(?:\\*|:[1-9][0-9]{0,3})?`;
const EXPRESSION = new RegExp(`^\\{[+#./;?&]?${VARIABLE}(?:,${VARIABLE})*\\}$`);

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The parts of a template of RFC 6570; undefined when it is none, or larger than anybody needs. */
export function splitTemplate(text: string): Template | undefined {
  if (text.length > LONGEST_TEMPLATE) return undefined;
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
    if (end === -1 || expressions.length === MOST_EXPRESSIONS) return undefined;
    const expression = text.slice(open, end);
    variables += expression.split(',').length;
    if (variables > MOST_VARIABLES) return undefined;
    expressions.push(expression);
    at = end;
  }
}

/** Where the expression that begins at `open` ends; -1 when what begins there is none. Never looks past a second `{`. */
export function expressionEnd(text: string, open: number): number {
  const limit = Math.min(text.length, open + LONGEST_EXPRESSION);
  for (let at = open + 1; at < limit; at++) {
    const code = text.charCodeAt(at);
    if (code === OPEN_BRACE) return -1;
    if (code === CLOSE_BRACE) return EXPRESSION.test(text.slice(open, at + 1)) ? at + 1 : -1;
  }
  return -1;
}

/** What an expression says that expressionEnd has accepted. */
export function readExpression(expression: string): Expression {
  const operator = /^\{([+#./;?&]?)/.exec(expression)![1] as Operator;
  const variables = expression.slice(1 + operator.length, -1).split(',');
  return { operator, variables: variables.map(readVariable) };
}

function readVariable(text: string): Variable {
  if (text.endsWith('*')) return { name: text.slice(0, -1), most: Infinity, explode: true };
  const [name, most] = text.split(':');
  return { name: name!, most: most === undefined ? Infinity : Number(most), explode: false };
}
