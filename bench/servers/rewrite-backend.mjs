// MCP servers in one process whose results, notifications and handshakes are long. The path says which:
// `/results` and `/templates` answer at once; `/<shape>-initialize`, `/<shape>-discover` and `/tools` hold their first answer until
// `POST <path>/release`.
import { createServer } from 'node:http';
import { SHAPES } from '../harness/json-shapes.mjs';

const MB = 1_048_576;
/** A little less than the limit, for the rest of the message. */
const SERVER_BYTES = 16 * MB - 4096;
const PARAMS_BYTES = 4 * MB - 4096;
const HANDSHAKE_BYTES = MB - 4096;
const CONTENTS = 100_000;
/** Time in which the gateway forwards a message of a call. */
const FORWARD_MS = 1500;
const TEMPLATES = 10_000;
const TOOLS = 7000;

const many = (count, element) => Array.from({ length: count }, (_, n) => element(n)).join(',');
const link = (n) => `{"type":"resource_link","uri":"file:///report/${n}.txt","name":"r"}`;
const WIDE = `{${many(1_000_000, (n) => `"k${n}":0`)}}`;
const LONG_TEXT = JSON.stringify('漢'.repeat(SERVER_BYTES / 3));

/** Results of a call, by the name that the caller gives. */
const RESULTS = {
  'wide _meta': () => `{"content":[${link(0)}],"_meta":${WIDE}}`,
  'wide _meta with a user interface': () =>
    `{"content":[],"_meta":{"ui":{"resourceUri":"ui://a"},${WIDE.slice(1)}}`,
  'three-byte text and a link': () =>
    `{"content":[{"type":"text","text":${LONG_TEXT}},${link(0)}],"isError":false}`,
  'a wide block': () => `{"content":[{"type":"resource_link","uri":"x:1",${WIDE.slice(1)}]}`,
  'many numbers in a block': () =>
    `{"content":[{"type":"resource_link","uri":"x:1","x":${SHAPES.numbers(2 * MB)}}]}`,
  'an array as structured content': () => `{"content":[],"structuredContent":[${LONG_TEXT}]}`,
  'a long resultType': () => `{"content":[],"resultType":${LONG_TEXT}}`,
};

const READS = {
  'x:contents': () => `{"contents":[${many(CONTENTS, (n) => `{"uri":"file:///${n}","text":"t"}`)}]}`,
  'x:same': () => `{"contents":[${many(CONTENTS, () => '{"uri":"x:same","text":"t"}')}]}`,
  'x:text': () => `{"contents":[{"uri":"x:text","mimeType":"text/plain","text":${LONG_TEXT}}]}`,
  'x:other': () => `{"contents":[{"uri":7,"text":${LONG_TEXT}}]}`,
  'x:wide': () => `{"contents":[{"uri":"x:wide","text":"","_meta":${WIDE}}]}`,
};

const PROMPTS = {
  links: () => `{"messages":[${many(CONTENTS, (n) => `{"role":"user","content":${link(n)}}`)}]}`,
  text: () =>
    `{"messages":[{"role":"user","content":{"type":"text","text":${LONG_TEXT}}},{"role":"user","content":${link(0)}}]}`,
};

const WIDE_PARAMS = many(PARAMS_BYTES / 12, (n) => `"k${n}":0`)
  .slice(0, PARAMS_BYTES)
  .replace(/,[^,]*$/, '');
const HALF = PARAMS_BYTES / 2;
const NOTIFICATION_BYTES = MB - 4096;
const WIDE_NOTIFICATION = SHAPES['distinct keys'](NOTIFICATION_BYTES);

/** Messages that a call causes before its result. */
const MESSAGES = {
  'wide progress': (token) =>
    `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1,${WIDE_PARAMS}}}`,
  'long progress': (token) =>
    `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1,"message":${SHAPES['three-byte characters'](PARAMS_BYTES)}}}`,
  'wide log message': () =>
    `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":1,${WIDE_PARAMS}}}`,
  'long log message': () =>
    `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":${SHAPES['three-byte characters'](PARAMS_BYTES)}}}`,
  // A longer notification is not forwarded.
  'wide progress of 1 MB': (token) =>
    `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1,"x":${WIDE_NOTIFICATION}}}`,
  'long progress of 1 MB': (token) =>
    `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1,"message":${SHAPES['three-byte characters'](NOTIFICATION_BYTES)}}}`,
  'wide log message of 1 MB': () =>
    `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":${WIDE_NOTIFICATION}}}`,
  'long log message of 1 MB': () =>
    `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":${SHAPES['three-byte characters'](NOTIFICATION_BYTES)}}}`,
  'wide sampling request': () =>
    `{"jsonrpc":"2.0","id":99,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"x":"resource",${WIDE_PARAMS}}}`,
  'sampling request with links': () =>
    `{"jsonrpc":"2.0","id":99,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":[${many(HALF / 64, link)}]}],"maxTokens":1}}`,
  'sampling request with a token': () =>
    `{"jsonrpc":"2.0","id":99,"method":"sampling/createMessage","params":{"_meta":{"progressToken":1},"messages":[],"x":${SHAPES['three-byte characters'](HALF)},"y":${SHAPES.numbers(HALF)}}}`,
  elicitation: () =>
    `{"jsonrpc":"2.0","id":99,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}},"x":${SHAPES.numbers(HALF)}}}`,
};

const error = (data) => `"error":{"code":-32602,"message":"failed","data":${data}}`;
const ERRORS = {
  'wide error': () => error(SHAPES['distinct keys'](MB - 4096)),
  'error about a URI': () => error(`{"uri":"x:1","x":${SHAPES['empty arrays'](MB - 4096)}}`),
};

const initialized = (capabilities, rest = '') =>
  `{"protocolVersion":"2025-11-25","capabilities":${capabilities},"serverInfo":{"name":"rewrites","version":"1"}${rest}}`;

const tool = (name) => `{"name":"${name}","inputSchema":{"type":"object"}}`;

const resultServer = {
  initialize: () => initialized('{"tools":{},"prompts":{},"resources":{},"logging":{}}'),
  'tools/list': () => `{"tools":[${tool('result')}]}`,
  'prompts/list': () =>
    `{"prompts":[${Object.keys(PROMPTS)
      .map((name) => `{"name":"${name}"}`)
      .join(',')}]}`,
  'resources/list': () =>
    `{"resources":[${Object.keys(READS)
      .map((uri) => `{"uri":"${uri}","name":"r"}`)
      .join(',')}]}`,
  'resources/templates/list': () => '{"resourceTemplates":[]}',
  'logging/setLevel': () => '{}',
  'tools/call': ({ arguments: { name } }) => RESULTS[name]?.() ?? '{"content":[]}',
  'resources/read': ({ uri }) => READS[uri]?.() ?? '{"contents":[]}',
  'prompts/get': ({ name }) => PROMPTS[name](),
};

/** Templates that all match the beginning and the end of a URI, and are slow to match. */
const TEMPLATE_KINDS = {
  alike: (n) => `x://{a}{b}{c${n}}/end`,
  queries: (n) => `x://{?a*,b*,c${n}*}`,
  literals: (n) => `x://{a}aaaaaaaa/{b}b/${n}/{c}`,
  distinct: (n) => `y${n}://{a}/{b}`,
};
const templateServer = (kind) => ({
  initialize: () => initialized('{"resources":{}}'),
  'resources/list': () => '{"resources":[]}',
  'resources/templates/list': () =>
    `{"resourceTemplates":[${many(TEMPLATES, (n) => `{"name":"t","uriTemplate":"${TEMPLATE_KINDS[kind](n)}"}`)}]}`,
  'resources/read': () => '{"contents":[]}',
});

const property = (n) => `"property${n}":{"type":"string","description":"what the property ${n} is for"}`;
const toolServer = {
  initialize: () => initialized('{"tools":{}}'),
  'tools/list': () =>
    `{"tools":[${many(TOOLS, (n) => `{"name":"tool_${n}","description":"does what the tool ${n} does","inputSchema":{"type":"object","properties":{${many(8, property)}}}}`)}]}`,
};

const handshakeServer = (shape) => ({
  initialize: () => initialized(`{"experimental":{"x":${SHAPES[shape](HANDSHAKE_BYTES)}},"tools":{}}`),
  'tools/list': () => `{"tools":[${tool('echo')}]}`,
});

const modernServer = (shape) => ({
  'server/discover': () =>
    `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"experimental":{"x":${SHAPES[shape](HANDSHAKE_BYTES)}}},"_meta":{}}`,
});

const inputRequest = (n, rest) =>
  `"q${n}":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1${rest}}}`;
const LONG_STATE = SHAPES['three-byte characters'](PARAMS_BYTES - 64);
const INPUTS = {
  'many input requests': () =>
    `{"resultType":"input_required","inputRequests":{${many(400_000, (n) => `"k${n}":{}`)}}}`,
  'long input requests': () =>
    `{"resultType":"input_required","inputRequests":{${many(16, (n) => inputRequest(n, `,"x":${SHAPES.numbers(HALF / 16)}`))}}}`,
  'a long state': () => `{"resultType":"input_required","requestState":${LONG_STATE}}`,
};
const inputServer = {
  'server/discover': () =>
    '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{}}',
  'tools/list': () => `{"resultType":"complete","tools":[${tool('result')}]}`,
  'tools/call': ({ arguments: { name }, inputResponses, requestState }) =>
    inputResponses || requestState
      ? '{"resultType":"complete","content":[]}'
      : (INPUTS[name]?.() ?? '{"resultType":"complete","content":[]}'),
};

function serverAt(path) {
  if (path === 'results') return resultServer;
  if (path === 'tools') return toolServer;
  if (path === 'inputs') return inputServer;
  const [kind, of] = path.split('.');
  if (of === 'templates') return templateServer(kind);
  return of === 'discover' ? modernServer(kind) : handshakeServer(kind);
}

const releases = new Map();
/** Resolves when the path was released. */
function released(path) {
  if (!releases.has(path)) {
    let release;
    const done = new Promise((resolve) => (release = resolve));
    // `held`: the requests that wait.
    releases.set(path, { done, release, held: 0 });
  }
  return releases.get(path);
}
const isHeld = (path) => path === 'tools' || /\.(initialize|discover)$/.test(path);

function answerTo({ id, method, params }, path) {
  const build = serverAt(path)[method];
  const failure = ERRORS[params?.arguments?.name];
  const outcome = failure
    ? failure()
    : build
      ? `"result":${build(params)}`
      : '"error":{"code":-32601,"message":"Method not found"}';
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${outcome}}`;
}

async function receive(message, path, response) {
  if (message.id === undefined || message.method === undefined) {
    response.writeHead(202).end();
    return;
  }
  if (isHeld(path)) {
    released(path).held++;
    await released(path).done;
  }
  const event = MESSAGES[message.params?.arguments?.name];
  if (!event) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(answerTo(message, path));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: ${event(JSON.stringify(message.params['_meta']?.progressToken ?? null))}\n\n`);
  // A request to the client that is not forwarded before the result would be cancelled.
  setTimeout(() => response.end(`data: ${answerTo(message, path)}\n\n`), FORWARD_MS);
}

const server = createServer((request, response) => {
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  const [, path, action] = decodeURIComponent(request.url).split('/');
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    if (action === 'release') {
      const { held, release } = released(path);
      release();
      response.end(JSON.stringify({ held }));
    } else void receive(JSON.parse(Buffer.concat(chunks).toString()), path, response);
  });
});
server.listen(0, '127.0.0.1', () =>
  console.log(`rewrite backend listens on http://127.0.0.1:${server.address().port}`),
);
