import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { withTraceContext, endSpan, Tracing } from './tracing.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const TRACEPARENT = `00-${TRACE}-${PARENT}-01`;

describe('Tracing', () => {
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracing = Tracing.using(provider.getTracer('test'));

  beforeAll(() => {
    provider.register();
  });
  afterAll(() => {
    propagation.disable();
    trace.disable();
    context.disable();
  });
  beforeEach(() => exporter.reset());

  const only = () => exporter.getFinishedSpans()[0]!;

  it('names the span of a tool call by the conventions for MCP', () => {
    endSpan(tracing.startServerSpan({ method: 'tools/call', name: 'db__query' }, undefined, {}));
    expect(only()).toMatchObject({
      name: 'tools/call db__query',
      kind: SpanKind.SERVER,
      attributes: {
        'mcp.method.name': 'tools/call',
        'gen_ai.tool.name': 'db__query',
        'gen_ai.operation.name': 'execute_tool',
      },
    });
  });

  it('does not put a resource URI into the name of its span', () => {
    endSpan(tracing.startServerSpan({ method: 'resources/read', name: 'file:///secret' }, undefined, {}));
    expect(only().name).toBe('resources/read');
  });

  it.each([
    ['the metadata of the request', { _meta: { traceparent: TRACEPARENT } }, {}],
    ['the HTTP headers', undefined, { traceparent: TRACEPARENT }],
    [
      'the metadata rather than the headers',
      { _meta: { traceparent: TRACEPARENT } },
      { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` },
    ],
  ])('continues the trace in %s', (_where, params, headers) => {
    endSpan(tracing.startServerSpan({ method: 'ping' }, params, headers));
    expect(only().spanContext().traceId).toBe(TRACE);
    expect(only().parentSpanContext?.spanId).toBe(PARENT);
  });

  it.each([[{ _meta: null }], [{ _meta: { traceparent: 7 } }], [{ _meta: { traceparent: 'invalid' } }]])(
    'begins a new trace for %j',
    (params) => {
      endSpan(tracing.startServerSpan({ method: 'ping' }, params, {}));
      expect(only().parentSpanContext).toBeUndefined();
    },
  );

  it('makes the call to a server a child of the request and sends it the trace context', () => {
    const request = tracing.startServerSpan(
      { method: 'tools/call' },
      { _meta: { traceparent: TRACEPARENT } },
      {},
    );
    const call = tracing.startClientSpan({ method: 'tools/call', name: 'query' }, request)!;
    const params = `{"name":"query","_meta":{"x":1.0,"traceparent":"${TRACEPARENT}"}}`;
    expect(withTraceContext(call, params)).toBe(
      `{"name":"query","_meta":{"x":1.0,"traceparent":"00-${TRACE}-${call.spanContext().spanId}-01"}}`,
    );
    endSpan(call);
    expect(only()).toMatchObject({ kind: SpanKind.CLIENT });
    expect(only().parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
  });

  it.each([
    [undefined, /^\{"_meta":\{"traceparent":"00-.{32}-.{16}-01"\}\}$/],
    ['{"name":"a"}', /^\{"name":"a","_meta":\{"traceparent":"00-.{52}"\}\}$/],
    ['{"_meta":null}', /^\{"_meta":\{"traceparent":"00-.{52}"\}\}$/],
  ])('adds _meta to params without it: %s', (params, expected) => {
    const request = tracing.startServerSpan({ method: 'ping' }, undefined, {});
    expect(withTraceContext(tracing.startClientSpan({ method: 'ping' }, request), params)).toMatch(expected);
  });

  it('records type and code of an error', () => {
    endSpan(tracing.startServerSpan({ method: 'ping' }, undefined, {}), { type: 'timeout', code: -31008 });
    expect(only()).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'error.type': 'timeout', 'rpc.response.status_code': '-31008' },
    });
  });

  it('makes no span and changes no byte when it is off', () => {
    const span = Tracing.OFF.startServerSpan({ method: 'ping' }, { _meta: { traceparent: TRACEPARENT } }, {});
    expect(span).toBeUndefined();
    expect(Tracing.OFF.startClientSpan({ method: 'ping' }, undefined)).toBeUndefined();
    expect(withTraceContext(undefined, '{"_meta":null}')).toBe('{"_meta":null}');
    endSpan(undefined);
    expect(exporter.getFinishedSpans()).toEqual([]);
  });
});
