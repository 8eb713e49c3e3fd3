import type { EgressProxies } from './config/egress-proxies.js';
import { Tracing } from './mcp/tracing.js';
import { agentFor } from './otlp-agent.js';
import { VERSION } from './version.js';

interface StartedTracing {
  readonly tracing: Tracing;
  /** Exports the remaining spans. */
  readonly stopTracing: () => Promise<void>;
}

/** Exports traces to the OTLP endpoint in the environment. If there is none, the OpenTelemetry SDK is not loaded. */
export async function startTracing(env: NodeJS.ProcessEnv, proxies: EgressProxies): Promise<StartedTracing> {
  const endpoint = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] ?? env['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (!endpoint) return { tracing: Tracing.OFF, stopTracing: async () => {} };
  const [{ NodeTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ]);
  const isProxied = URL.canParse(endpoint) && proxies.for(new URL(endpoint)) !== undefined;
  const agent = isProxied ? { httpAgentOptions: () => agentFor(new URL(endpoint), proxies) } : {};
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({
      'service.name': env['OTEL_SERVICE_NAME'] ?? 'gatehouse',
      'service.version': VERSION,
    }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter(agent))],
  });
  provider.register();
  return {
    tracing: Tracing.using(provider.getTracer('gatehouse', VERSION)),
    stopTracing: () => provider.shutdown(),
  };
}
