import type { Attributes, Span } from '@opentelemetry/api';
import type { JsonText } from '../lib/json-text/json-text.js';
import { withTraceContext, endSpan, type Tracing } from '../mcp/tracing.js';
import { outcomeOfFailure, outcomeOfResult } from '../metrics/call-outcome.js';

/** A call to a server, as its span describes it. */
export interface TracedCall {
  readonly method: string;
  readonly params: string | undefined;
  /** The own name or URI of the called tool, prompt or resource. */
  readonly target?: string;
}

/** Makes a call within a client span. The trace context is sent to the server in the params. */
export async function traceCall(
  tracing: Tracing,
  { method, params, target }: TracedCall,
  { parent, attributes }: { readonly parent: Span; readonly attributes: Attributes },
  call: (params: string | undefined) => Promise<JsonText>,
): Promise<JsonText> {
  const span = tracing.startClientSpan({ method, name: target, attributes }, parent);
  try {
    const result = await call(withTraceContext(span, params));
    endSpan(span, outcomeOfResult(result) === 'tool_error' ? { type: 'tool_error' } : undefined);
    return result;
  } catch (error) {
    endSpan(span, { type: outcomeOfFailure(error) });
    throw error;
  }
}
