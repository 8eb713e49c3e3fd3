import {
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Span,
  type Tracer,
} from '@opentelemetry/api';
import { mapMember, memberText, withMember } from '../lib/json-text/json-text.js';
import { isJsonObject } from '../lib/json-text/json-value.js';
import type { Params } from './json-rpc.js';
import type { HttpHeaders } from './standard-headers.js';

/** The keys that MCP reserves for the trace context in `_meta`. */
export const TRACE_KEYS = ['traceparent', 'tracestate', 'baggage'] as const;

type Carrier = Record<string, string>;

/** One MCP request, from a client to the gateway or from the gateway to a server. */
export interface TracedMethod {
  readonly method: string;
  /**
   * The name of the tool or prompt, or the URI of the resource: the public one in a request of a client, the server's own one
   * in a request to a server.
   */
  readonly name?: string | undefined;
  readonly attributes?: Attributes;
}

/** Creates spans that follow the semantic conventions of OpenTelemetry for MCP. Without a tracer, it creates none. */
export class Tracing {
  readonly isOn: boolean;

  private constructor(private readonly tracer: Tracer | undefined) {
    this.isOn = tracer !== undefined;
  }

  static readonly OFF = new Tracing(undefined);

  static using(tracer: Tracer): Tracing {
    return new Tracing(tracer);
  }

  /** Starts the span of a client's request. The parent of the span is in `_meta`, or else in the HTTP headers. */
  startServerSpan(traced: TracedMethod, params: Params | undefined, headers: HttpHeaders): Span | undefined {
    if (!this.tracer) return undefined;
    const parent = propagation.extract(ROOT_CONTEXT, traceContextIn(params?.['_meta']) ?? headers);
    const options = { kind: SpanKind.SERVER, attributes: attributesOf(traced) };
    return this.tracer.startSpan(spanName(traced), options, parent);
  }

  /** Starts the span of a request to a server; the parent is the span of the client's request. */
  startClientSpan(traced: TracedMethod, parent: Span | undefined): Span | undefined {
    if (!this.tracer || !parent) return undefined;
    const options = { kind: SpanKind.CLIENT, attributes: attributesOf(traced) };
    return this.tracer.startSpan(spanName(traced), options, trace.setSpan(ROOT_CONTEXT, parent));
  }
}

/** The params with the trace context of `span`, which becomes the parent of the server's spans. */
export function withTraceContext(span: Span | undefined, params: string | undefined): string | undefined {
  if (!span) return params;
  const carrier: Carrier = {};
  propagation.inject(trace.setSpan(ROOT_CONTEXT, span), carrier);
  const text = params ?? '{}';
  const meta = memberText(text, '_meta');
  let tracedMeta = meta?.startsWith('{') ? meta : '{}';
  for (const key of TRACE_KEYS)
    if (carrier[key] !== undefined) tracedMeta = withMember(tracedMeta, key, JSON.stringify(carrier[key]));
  return meta === undefined
    ? withMember(text, '_meta', tracedMeta)
    : mapMember(text, '_meta', () => tracedMeta);
}

/** Ends the span, if there is one. With `error`, its status becomes an error. */
export function endSpan(
  span: Span | undefined,
  error?: { readonly type: string; readonly code?: number },
): void {
  if (!span) return;
  if (error) {
    span.setAttribute('error.type', error.type);
    if (error.code !== undefined) span.setAttribute('rpc.response.status_code', String(error.code));
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

function traceContextIn(meta: unknown): Carrier | undefined {
  if (!isJsonObject(meta) || typeof meta['traceparent'] !== 'string') return undefined;
  return Object.fromEntries(
    TRACE_KEYS.flatMap((key) => (typeof meta[key] === 'string' ? [[key, meta[key]]] : [])),
  );
}

const spanName = ({ method, name }: TracedMethod): string =>
  name !== undefined && method !== 'resources/read' ? `${method} ${name}` : method;

function attributesOf({ method, name, attributes }: TracedMethod): Attributes {
  return { 'mcp.method.name': method, ...nameAttributes(method, name), ...attributes };
}

function nameAttributes(method: string, name: string | undefined): Attributes {
  if (name === undefined) return {};
  if (method === 'tools/call') return { 'gen_ai.tool.name': name, 'gen_ai.operation.name': 'execute_tool' };
  if (method === 'prompts/get') return { 'gen_ai.prompt.name': name };
  return { 'mcp.resource.uri': name };
}
