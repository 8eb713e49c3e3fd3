// The program that the suite runs as the client under test, with the URL of its own server. With `CONFORMANCE_GATEWAY=true`
// the built gateway is in between, so that the gateway is the client that the suite observes.
import { startGateway } from './processes.mjs';
import { connect } from './sdk-clients.mjs';

const call = (client, name, args = {}) => client.callTool({ name, arguments: args });

const calls =
  (name, args) =>
  ({ client }) =>
    call(client, name, args);

async function readAndGet({ client }) {
  await call(client, 'my-hyphenated-tool');
  const { resources } = await client.listResources();
  for (const { uri } of resources) await client.readResource({ uri });
  await client.listPrompts();
  await client.getPrompt({ name: 'test_prompt' });
}

/** The call between two rounds of another one must not carry anything of it. */
async function answerInputRequests({ client }) {
  await Promise.all([call(client, 'test_mrtr_echo_state'), call(client, 'test_mrtr_unrelated')]);
  await call(client, 'test_mrtr_no_state');
  // SDK 2.x rejects a result without a type. What counts is that it does not send the call again.
  await call(client, 'test_mrtr_no_result_type').catch(() => undefined);
}

/** By scenario: what to do once the tools are listed. */
const STEPS = {
  initialize: () => undefined,
  tools_call: calls('add_numbers', { a: 5, b: 3 }),
  'elicitation-sep1034-client-defaults': calls('test_client_elicitation_defaults'),
  'sse-retry': calls('test_reconnection'),
  'json-schema-2020-12-preservation': ({ client, tools }) => {
    const { inputSchema: schema } = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
    return call(client, 'json_schema_echo', { schema });
  },
  'request-metadata': () => undefined,
  'sep-2322-client-request-state': answerInputRequests,
  'http-standard-headers': readAndGet,
  'http-custom-headers': async ({ client, context }) => {
    for (const { name, arguments: args } of context.toolCalls) await call(client, name, args);
  },
  'http-invalid-tool-headers': async ({ client, tools }) => {
    for (const { name } of tools) await call(client, name, { region: 'eu' });
  },
  'json-schema-ref-no-deref': () => undefined,
};

/** Scenarios whose server asks. In others, capabilities are what the gateway cannot show without a request to forward. */
const WITH_FORMS = ['elicitation-sep1034-client-defaults', 'sep-2322-client-request-state'];

async function run(url) {
  const { CONFORMANCE_SDK, MCP_CONFORMANCE_CONTEXT = '{}', MCP_CONFORMANCE_SCENARIO } = process.env;
  const client = await connect(CONFORMANCE_SDK, url, WITH_FORMS.includes(MCP_CONFORMANCE_SCENARIO));
  const { tools } = await client.listTools();
  const context = JSON.parse(MCP_CONFORMANCE_CONTEXT);
  const result = await STEPS[MCP_CONFORMANCE_SCENARIO]({ client, tools, context });
  if (result?.isError) throw new Error(`the call failed: ${JSON.stringify(result.content)}`);
  await client.close();
}

const url = process.argv.at(-1);
if (process.env.CONFORMANCE_GATEWAY === 'true') {
  const gateway = await startGateway({ url });
  try {
    await run(gateway.url);
  } catch (error) {
    console.error(gateway.output());
    throw error;
  } finally {
    await gateway.stop();
  }
} else {
  await run(url);
}
