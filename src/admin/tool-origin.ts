import type { ReviewedDecision } from '../decisions/decision-review.js';

interface ToolOrigin {
  readonly origin: 'config' | 'admin';
  readonly decision?: ReviewedDecision;
}

/** Says whether the definition of the server (`config`) or a decision (`admin`) enables or disables a tool. */
export const toolOrigin = (decision: ReviewedDecision | undefined): ToolOrigin => ({
  origin: decision?.effect === 'applied' ? 'admin' : 'config',
  ...(decision && { decision }),
});
