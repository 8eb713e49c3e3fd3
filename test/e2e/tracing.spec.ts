import { describe, expect, it } from '@jest/globals';
import { startGateway } from '../kit/gateway.js';
import { callModern } from '../kit/modern-calls.js';
import { ModernSdkServer } from '../kit/modern-server/modern-sdk-server.js';
import { buildServer } from '../kit/modern-server/offer.mjs';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { startCollector } from '../kit/trace-collector.js';
import { until } from '../kit/until.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';

describe('traces', () => {
  it('follow a call from the client through the gateway to the server', async () => {
    const { port, spans } = await startCollector();
    const scripted = await ScriptedServer.start();
    scripted.tool('echo', () => text('hi'));
    const gateway = await startGateway(
      { mcpServers: { db: scripted.http } },
      { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` },
    );
    await gateway.listed({ tools: ['db'] });
    const session = await RawSession.open(gateway.url);
    const traceparent = `00-${TRACE}-b7ad6b7169203331-01`;
    await session.request('tools/call', { name: 'db__echo', arguments: {}, _meta: { traceparent } });
    expect(await gateway.stop()).toMatchObject({ code: 0 });

    const traced = await until('the spans arrived', () => {
      const found = spans.filter(({ traceId }) => traceId === TRACE);
      return found.length === 2 && found;
    });
    const received = traced.find(({ name }) => name === 'tools/call db__echo')!;
    const sent = traced.find(({ name }) => name === 'tools/call echo')!;
    expect(received.parentSpanId).toBe('b7ad6b7169203331');
    expect(sent.parentSpanId).toBe(received.spanId);
    const call = scripted.received.find(({ message }) => message.method === 'tools/call')!;
    expect(call.text).toContain(`00-${TRACE}-${sent.spanId}-01`);
  });

  it('replace the progress token of a call in the params with the trace context', async () => {
    const { port } = await startCollector();
    const scripted = await ScriptedServer.start();
    scripted.tool('echo', () => text('hi'));
    const gateway = await startGateway(
      { mcpServers: { db: scripted.http } },
      { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` },
    );
    await gateway.listed({ tools: ['db'] });
    const session = await RawSession.open(gateway.url);
    // `_meta` comes first, so that the trace context moves the members behind it.
    await session.request('tools/call', {
      _meta: { progressToken: 'own' },
      name: 'db__echo',
      arguments: {},
      x: 1,
    });
    const call = scripted.received.find(({ message }) => message.method === 'tools/call')!;
    const { params } = JSON.parse(call.text) as { readonly params: unknown };
    expect(params).toEqual({
      _meta: { progressToken: expect.any(Number), traceparent: expect.stringMatching(/^00-/) },
      name: 'echo',
      arguments: {},
      x: 1,
    });
  });

  it('follow a call of a client of 2026 to servers of both eras', async () => {
    const { port, spans } = await startCollector();
    const scripted = await ScriptedServer.start();
    scripted.tool('echo', () => text('hi'));
    const modern = await ModernSdkServer.start(() => buildServer());
    const gateway = await startGateway(
      { http: { modern: true }, mcpServers: { old: scripted.http, new: { url: modern.url } } },
      { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` },
    );
    await gateway.listed({ tools: ['old', 'new'] });
    const meta = { traceparent: `00-${TRACE}-b7ad6b7169203331-01`, tracestate: 'a=1' };
    await callModern(gateway.url, 'tools/call', { name: 'old__echo', arguments: {} }, { meta });
    await callModern(gateway.url, 'tools/call', { name: 'new__envelope', arguments: {} }, { meta });
    expect(await gateway.stop()).toMatchObject({ code: 0 });

    const found = await until('the spans arrived', () => {
      const own = spans.filter(({ traceId }) => traceId === TRACE);
      return own.length === 4 && own;
    });
    for (const [received, sent] of [
      ['tools/call old__echo', 'tools/call echo'],
      ['tools/call new__envelope', 'tools/call envelope'],
    ]) {
      const parent = found.find(({ name }) => name === received)!;
      expect(parent.parentSpanId).toBe('b7ad6b7169203331');
      expect(found.find(({ name }) => name === sent)!.parentSpanId).toBe(parent.spanId);
    }
    const call = scripted.received.find(({ message }) => message.method === 'tools/call')!;
    const sent = found.find(({ name }) => name === 'tools/call echo')!;
    expect(call.text).toContain(`"traceparent":"00-${TRACE}-${sent.spanId}-01"`);
  });
});
