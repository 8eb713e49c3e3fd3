import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedServer, ScriptedError, text } from '../kit/scripted-server/scripted-server.js';
import { until } from '../kit/until.js';

/** Content that a parse and stringify would change, or that a typed SDK would drop or refuse. */
const UNUSUAL_MEMBERS = [
  '"tooBig":12345678901234567890',
  '"one":1.0',
  '"huge":1e400',
  '"exponent":-1.50E+2',
  '"escapes":"caf\\u00e9 \\ud83d\\ude00 \\/ \\u0000 \\ud800"',
  '"raw":"café 😀 \u2028"',
  '"__proto__":{"constructor":null}',
  '"twice":1,"twice":2',
  '"spaced" : [ 1 ,\t2 ]',
  '"":{}',
].join(',');

const RESULT =
  `{"content":[{"type":"text","text":"t","x":1.0},{"type":"hologram",${UNUSUAL_MEMBERS}}],` +
  `"structuredContent":{${UNUSUAL_MEMBERS}},"_meta":{"vendor/x":{${UNUSUAL_MEMBERS}}},"newInOctober":{${UNUSUAL_MEMBERS}}}`;
const PROMPT = `{"messages":[{"role":"user","content":{"type":"hologram",${UNUSUAL_MEMBERS}},"x":0.0}],"_meta":{${UNUSUAL_MEMBERS}}}`;
const ERROR = `{"code":-32050,"message":"own \\u00e9","data":{${UNUSUAL_MEMBERS}},"more":{${UNUSUAL_MEMBERS}}}`;
const DEFINITION = `{"x":1.0,"name":"odd","inputSchema":{"type":"object",${UNUSUAL_MEMBERS}},"icons":[{"src":"a","y":1.0}],${UNUSUAL_MEMBERS}}`;
const DEFINITION_WITH_META = `{"name":"odd_meta","inputSchema":{"type":"object"},"_meta":{"vendor/x":1.0,${UNUSUAL_MEMBERS}},"z":{}}`;

const oddParams = (name: string, token: string | number): string =>
  `{"unknown":{${UNUSUAL_MEMBERS}},"name":"${name}","arguments":{${UNUSUAL_MEMBERS}},"_meta":{"vendor/x":1.0,"progressToken":${token}}}`;

const nameIn = (server: string, definition: string): string => definition.replace('"odd', `"${server}__odd`);

const TRANSPORTS = ['stdio', 'http', 'sse'] as const;
type Transport = (typeof TRANSPORTS)[number];

async function startUnusualServer(): Promise<ScriptedServer> {
  return (await ScriptedServer.start())
    .tool('odd', () => RESULT, DEFINITION)
    .tool('odd_meta', () => RESULT, DEFINITION_WITH_META)
    .tool('fail', () => {
      throw new ScriptedError(ERROR);
    })
    .tool('stream', (call) => {
      call.progress(1);
      return RESULT;
    })
    .tool('ask', async (call) => {
      await call.sendRequest('sampling/createMessage', {});
      return text('asked');
    })
    .prompt('odd', () => PROMPT, `{"name":"odd","arguments":[{"name":"a","x":1.0}],${UNUSUAL_MEMBERS}}`)
    .on('completion/complete', () => `{"completion":{"values":["a"],"x":1.0},${UNUSUAL_MEMBERS}}`);
}

let gateway: Gateway;
let servers: Record<Transport, ScriptedServer>;

beforeAll(async () => {
  const [stdio, http, sse] = await Promise.all(TRANSPORTS.map(startUnusualServer));
  servers = { stdio: stdio!, http: http!, sse: sse! };
  gateway = await startGateway({ mcpServers: { stdio: stdio!.stdio(), http: http!.http, sse: sse!.sse } });
  await gateway.listed({ tools: TRANSPORTS, prompts: TRANSPORTS });
});

describe.each(TRANSPORTS)('bytes over %s', (server) => {
  let scripted: ScriptedServer;
  let session: RawSession;

  beforeAll(async () => {
    scripted = servers[server];
    session = await RawSession.open(gateway.url, { capabilities: { sampling: {} } });
  });

  it('of a tool result arrive as the server wrote them', async () => {
    const { text: answer } = await session.request('tools/call', { name: `${server}__odd` }, 7);
    expect(answer).toBe(`{"jsonrpc":"2.0","id":7,"result":${RESULT}}`);
  });

  it('of a tool result arrive on a stream as well', async () => {
    const params = { name: `${server}__stream`, _meta: { progressToken: 'p' } };
    const { text: answer, before } = await session.request('tools/call', params, 'id');
    expect(before).toHaveLength(1);
    expect(answer).toBe(`{"jsonrpc":"2.0","id":"id","result":${RESULT}}`);
  });

  it('of a prompt and of a completion arrive as the server wrote them', async () => {
    const prompt = await session.request('prompts/get', { name: `${server}__odd` }, 1);
    expect(prompt.text).toBe(`{"jsonrpc":"2.0","id":1,"result":${PROMPT}}`);
    const ref = { type: 'ref/prompt', name: `${server}__odd` };
    const argument = { name: 'a', value: '' };
    const completion = await session.request('completion/complete', { ref, argument }, 1);
    expect(completion.text).toContain(`{"completion":{"values":["a"],"x":1.0},${UNUSUAL_MEMBERS}}`);
  });

  it('of an error arrive as the server wrote them: code, message, data and unknown members', async () => {
    const { text: answer } = await session.request('tools/call', { name: `${server}__fail` }, 1);
    expect(answer).toBe(`{"jsonrpc":"2.0","id":1,"error":${ERROR}}`);
  });

  it('of a definition are unchanged except for the name and the added server mark', async () => {
    const { text: tools } = await session.request('tools/list');
    const markOf = (own: string): string => `"io.gatehouse/server":"${server}","io.gatehouse/name":"${own}"`;
    expect(tools).toContain(`${nameIn(server, DEFINITION).slice(0, -1)},"_meta":{${markOf('odd')}}}`);
    expect(tools).toContain(
      nameIn(server, DEFINITION_WITH_META).replace('"":{}}', `"":{},${markOf('odd_meta')}}`),
    );
    const { text: prompts } = await session.request('prompts/list');
    expect(prompts).toContain(
      `"arguments":[{"name":"a","x":1.0}],${UNUSUAL_MEMBERS},"_meta":{${markOf('odd')}}}`,
    );
  });

  it('of a request reach the server unchanged except for the name and the progress token', async () => {
    await session.request('tools/call', oddParams(`${server}__odd`, '"mine"'));
    const { text: received, message } = scripted.messages('tools/call').at(-1)!;
    expect(received).toContain(`"params":${oddParams('odd', message.id as number)}`);
  });

  it('of a server request reach the client, and those of its response reach the server', async () => {
    const asked = await session.stream('tools/call', { name: `${server}__ask` });
    const serverRequest = await asked.message(
      'the server request',
      ({ method }) => method === 'sampling/createMessage',
    );
    await session.post(
      `{"jsonrpc":"2.0","id":${serverRequest.id},"result":{"role":"assistant",${UNUSUAL_MEMBERS}}}`,
    );
    await asked.untilEnded();
    const answer = scripted.received.find(({ text: received }) => received.includes('"assistant"'));
    expect(answer?.text).toContain(`"result":{"role":"assistant",${UNUSUAL_MEMBERS}}`);
  });

  it('of a log message reach the client', async () => {
    const stream = await session.listen();
    await session.request('logging/setLevel', { level: 'debug' });
    // Dropped while a call has ended within the last second.
    await until('the log message arrives', () => {
      scripted.link.send(
        `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{${UNUSUAL_MEMBERS}}}}`,
      );
      return stream.messages.some(({ method }) => method === 'notifications/message');
    });
    expect(stream.all.at(-1)?.data).toContain(`"params":{"level":"info","data":{${UNUSUAL_MEMBERS}}}`);
    stream.disconnect();
  });
});
