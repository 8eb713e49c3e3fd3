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
import { isObject, type Params } from './json-rpc.js';

/** The keys of the trace context in `_meta`, as the specification reserves them. */
const TRACE_KEYS = ['traceparent', 'tracestate', 'baggage'] as const;

type Carrier = Record<string, string>;
/** Headers as Node has them. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** One MCP method on its way, from a client to us or from us to a server. */
export interface TracedMethod {
  readonly method: string;
  /** The tool, prompt or resource it is about, by the name it has on this hop. */
  readonly name?: string | undefined;
  readonly attributes?: Attributes;
}

/**
 * Spans for what the gateway does, by the semantic conventions of OpenTelemetry for MCP. Off, it makes none: every
 * method here is then a comparison.
 */
export class Tracing {
  private constructor(private readonly tracer: Tracer | undefined) {}

  static readonly OFF = new Tracing(undefined);

  static using(tracer: Tracer): Tracing {
    return new Tracing(tracer);
  }

  get isOn(): boolean {
    return this.tracer !== undefined;
  }

  /** A client's request. The trace goes on from its `_meta`, else from the HTTP headers. */
  startServerSpan(traced: TracedMethod, params: Params | undefined, headers: Headers): Span | undefined {
    if (!this.tracer) return undefined;
    const parent = propagation.extract(ROOT_CONTEXT, carrierIn(params?.['_meta']) ?? headers);
    const options = { kind: SpanKind.SERVER, attributes: attributesOf(traced) };
    return this.tracer.startSpan(spanName(traced), options, parent);
  }

  /** Our request to a server, as a part of a client's. */
  startClientSpan(traced: TracedMethod, parent: Span | undefined): Span | undefined {
    if (!this.tracer || !parent) return undefined;
    const options = { kind: SpanKind.CLIENT, attributes: attributesOf(traced) };
    return this.tracer.startSpan(spanName(traced), options, trace.setSpan(ROOT_CONTEXT, parent));
  }
}

/** The params with this hop's span in the place of the client's, so that the server's own spans hang below it. */
export function withTraceContext(span: Span | undefined, params: string | undefined): string | undefined {
  if (!span) return params;
  const carrier: Carrier = {};
  propagation.inject(trace.setSpan(ROOT_CONTEXT, span), carrier);
  const text = params ?? '{}';
  const meta = memberText(text, '_meta');
  const own = TRACE_KEYS.reduce(
    (object, key) =>
      carrier[key] === undefined ? object : withMember(object, key, JSON.stringify(carrier[key])),
    meta?.startsWith('{') ? meta : '{}',
  );
  return meta === undefined ? withMember(text, '_meta', own) : mapMember(text, '_meta', () => own);
}

/** Ends a span; `error` is its type and code where it failed. */
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

function carrierIn(meta: unknown): Carrier | undefined {
  if (!isObject(meta) || typeof meta['traceparent'] !== 'string') return undefined;
  return Object.fromEntries(
    TRACE_KEYS.flatMap((key) => (typeof meta[key] === 'string' ? [[key, meta[key]]] : [])),
  );
}

const spanName = ({ method, name }: TracedMethod): string =>
  name !== undefined && method !== 'resources/read' ? `${method} ${name}` : method;

function attributesOf({ method, name, attributes }: TracedMethod): Attributes {
  const subject: Attributes =
    name === undefined
      ? {}
      : method === 'tools/call'
        ? { 'gen_ai.tool.name': name, 'gen_ai.operation.name': 'execute_tool' }
        : method === 'prompts/get'
          ? { 'gen_ai.prompt.name': name }
          : { 'mcp.resource.uri': name };
  return { 'mcp.method.name': method, ...subject, ...attributes };
}
