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
 * What may stand in the place of an expression. An operator that is not there stands for nothing, since none of the
 * variables may have a value; an expression without one is nothing only where it `mayBeEmpty`. Lists have commas,
 * which end nothing. With `*` the names are the client's, so that all do.
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
