import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { carrying, finish, Tracing } from './tracing.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const TRACEPARENT = `00-${TRACE}-${PARENT}-01`;

describe('tracing', () => {
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracing = Tracing.by(provider.getTracer('test'));

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

  it('names the span of a tool call after method and tool, by the conventions for MCP', () => {
    finish(tracing.received({ method: 'tools/call', name: 'db__query' }, undefined, {}));
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

  it('keeps a resource out of the name of its span', () => {
    finish(tracing.received({ method: 'resources/read', name: 'file:///secret' }, undefined, {}));
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
  ])('goes on with the trace in %s', (_where, params, headers) => {
    finish(tracing.received({ method: 'ping' }, params, headers));
    expect(only().spanContext().traceId).toBe(TRACE);
    expect(only().parentSpanContext?.spanId).toBe(PARENT);
  });

  it.each([[{ _meta: null }], [{ _meta: { traceparent: 7 } }], [{ _meta: { traceparent: 'nonsense' } }]])(
    'begins a trace of its own where the request says %j',
    (params) => {
      finish(tracing.received({ method: 'ping' }, params, {}));
      expect(only().parentSpanContext).toBeUndefined();
    },
  );

  it('puts the call to a server below the request, and tells the server so in the place of what the client said', () => {
    const request = tracing.received({ method: 'tools/call' }, { _meta: { traceparent: TRACEPARENT } }, {});
    const call = tracing.sent({ method: 'tools/call', name: 'query' }, request)!;
    const params = `{"name":"query","_meta":{"x":1.0,"traceparent":"${TRACEPARENT}"}}`;
    expect(carrying(call, params)).toBe(
      `{"name":"query","_meta":{"x":1.0,"traceparent":"00-${TRACE}-${call.spanContext().spanId}-01"}}`,
    );
    finish(call);
    expect(only()).toMatchObject({ kind: SpanKind.CLIENT });
    expect(only().parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
  });

  it.each([
    [undefined, /^\{"_meta":\{"traceparent":"00-.{32}-.{16}-01"\}\}$/],
    ['{"name":"a"}', /^\{"name":"a","_meta":\{"traceparent":"00-.{52}"\}\}$/],
    ['{"_meta":null}', /^\{"_meta":\{"traceparent":"00-.{52}"\}\}$/],
  ])('adds the metadata where a request has none: %s', (params, expected) => {
    const request = tracing.received({ method: 'ping' }, undefined, {});
    expect(carrying(tracing.sent({ method: 'ping' }, request), params)).toMatch(expected);
  });

  it('says of a failure what it was', () => {
    finish(tracing.received({ method: 'ping' }, undefined, {}), { type: 'timeout', code: -31008 });
    expect(only()).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'error.type': 'timeout', 'rpc.response.status_code': '-31008' },
    });
  });

  it('makes no span, and leaves every byte as it is, when it is off', () => {
    const span = Tracing.OFF.received({ method: 'ping' }, { _meta: { traceparent: TRACEPARENT } }, {});
    expect(span).toBeUndefined();
    expect(Tracing.OFF.sent({ method: 'ping' }, undefined)).toBeUndefined();
    expect(carrying(undefined, '{"_meta":null}')).toBe('{"_meta":null}');
    finish(undefined);
    expect(exporter.getFinishedSpans()).toEqual([]);
  });
});
