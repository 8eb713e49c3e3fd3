import { GatewayError, shorten } from '../errors.js';
import type { NameView } from './name-view.js';

const MAX_CANDIDATES = 10;

/** The error for a name that leads to no tool or prompt. If the name is ambiguous, the message lists the candidates. */
export function unknownName(kind: 'tool' | 'prompt', name: string, view: NameView): GatewayError {
  const candidates = view.candidates(name);
  const listed = candidates.slice(0, MAX_CANDIDATES).join(', ');
  const more = candidates.length > MAX_CANDIDATES ? ` and ${candidates.length - MAX_CANDIDATES} more` : '';
  const hint = candidates.length > 0 ? `; several servers have it, use one of: ${listed}${more}` : '';
  return new GatewayError(`${kind}-not-found`, `Unknown ${kind}: ${shorten(name)}${hint}`);
}
