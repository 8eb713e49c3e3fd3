import type { Shape } from '../schema/shape.js';
import { parseValue } from './document.js';

/** The value of a variable: a plain string for text keys, parsed as YAML for others. */
export function parseVariable(shape: Shape, text: string): unknown {
  return shape.kind === 'text' || shape.kind === 'choice' ? text : parseValue(text);
}
