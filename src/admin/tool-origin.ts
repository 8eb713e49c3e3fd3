import type { ReviewedDecision } from '../decisions/decision-review.js';

interface ToolOrigin {
  readonly origin: 'config' | 'admin';
  readonly decision?: ReviewedDecision;
}

/** Whether a tool is enabled or disabled by the definition of its server or by a decision. */
export const toolOrigin = (decision: ReviewedDecision | undefined): ToolOrigin => ({
  origin: decision?.effect === 'applied' ? 'admin' : 'config',
  ...(decision && { decision }),
});
