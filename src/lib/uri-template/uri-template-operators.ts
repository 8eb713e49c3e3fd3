import { Pairs } from './uri-template-pairs.js';
import type { Expression } from './uri-template-parser.js';
import { Run } from './uri-template-run.js';
import { Stops, type Span } from './uri-template-span.js';
import { Values } from './uri-template-values.js';

const NOTHING = new Stops('');
/** Clients often leave values unencoded, so that much is let through, but never what ends a path segment. */
const SEGMENT = new Stops('/?#');
const PARAMETER = new Stops('/?#;');
const QUERY = new Stops('#');
const QUERY_VALUE = new Stops('#&');

const ANY_NUMBER = 2 ** 29;

/**
 * What may stand in the place of an expression. One with an operator may be nothing, since its variables may have no
 * values; one without is nothing only where it `mayBeEmpty`. A comma ends no value, since a list without `*` has
 * commas. With `*` the names may be the client's own, so that any name will do.
 */
export function spanOf({ operator, variables }: Expression, mayBeEmpty: boolean): Span {
  const isExploded = variables.some(({ explode }) => explode);
  const limits = variables.map(({ most }) => most);
  const valueOf = (stops: Stops): Span => {
    const first = operator === '+' ? '' : operator;
    const least = first === '' && !mayBeEmpty ? 1 : 0;
    /** All values as one, with what stands between them. */
    const most = limits.reduce((sum, limit) => sum + limit, limits.length - 1);
    if (most === Infinity) return new Run(stops, first, least);
    return new Values({ stops, first, separator: '', least, most, values: 1 });
  };
  switch (operator) {
    case '':
    case '.':
      return valueOf(SEGMENT);
    case '+':
    case '#':
      return valueOf(NOTHING);
    case '/': {
      const values = isExploded ? ANY_NUMBER : variables.length;
      const most = Math.max(...limits);
      return new Values({ stops: SEGMENT, first: '/', separator: '/', least: 0, most, values });
    }
    case ';':
      if (isExploded) return valueOf(SEGMENT);
      return new Pairs({ first: ';', separator: ';', stops: PARAMETER }, variables);
    default:
      if (isExploded) return valueOf(QUERY);
      return new Pairs({ first: operator, separator: '&', stops: QUERY_VALUE }, variables);
  }
}
