// The program that the suite runs as the client under test, with the URL of its own server. `CONFORMANCE_LANE=gateway`
// puts the built gateway in between, so that the gateway is the client that the suite observes.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { startGateway } from './processes.mjs';

const call =
  (name, args = {}) =>
  (client) =>
    client.callTool({ name, arguments: args });

/** By scenario: what to do once the tools are listed. */
const STEPS = {
  initialize: () => undefined,
  tools_call: call('add_numbers', { a: 5, b: 3 }),
  'elicitation-sep1034-client-defaults': call('test_client_elicitation_defaults'),
  'sse-retry': call('test_reconnection'),
  'json-schema-2020-12-preservation': (client, tools) => {
    const { inputSchema: schema } = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
    return client.callTool({ name: 'json_schema_echo', arguments: { schema } });
  },
};

async function run(url, scenario) {
  const client = new Client(
    { name: 'conformance-client', version: '1.0.0' },
    { capabilities: { elicitation: { form: { applyDefaults: true } } } },
  );
  // The SDK adds the defaults of the form to an empty content.
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: {} }));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const { tools } = await client.listTools();
  const result = await STEPS[scenario](client, tools);
  if (result?.isError) throw new Error(`the call failed: ${JSON.stringify(result.content)}`);
  await client.close();
}

const { CONFORMANCE_LANE, MCP_CONFORMANCE_SCENARIO: scenario } = process.env;
const url = process.argv.at(-1);
if (CONFORMANCE_LANE === 'gateway') {
  const gateway = await startGateway({ url });
  try {
    await run(gateway.url, scenario);
  } catch (error) {
    console.error(gateway.output());
    throw error;
  } finally {
    await gateway.stop();
  }
} else {
  await run(url, scenario);
}
