import type { Shape } from '../schema/shape.js';
import { readValue } from './document.js';

/** A value out of a variable, which is always text: as it is where the key wants text, else read as YAML. */
export function readAs(shape: Shape, text: string): unknown {
  return shape.kind === 'text' || shape.kind === 'choice' ? text : readValue(text);
}
