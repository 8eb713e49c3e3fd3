import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { writeConfig } from '../harness/config-file.mjs';
import { SHAPES } from '../harness/json-shapes.mjs';
import { requireRun } from '../harness/outcomes.mjs';
import { startServer } from '../harness/processes.mjs';

const MB = 1_048_576;
const STALL_MS = 50;
/** Time in which the input requests of a call reach the client. */
const INPUT_MS = 3000;
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** What is asked of the server `results`: the method, and what it returns (see rewrite-backend.mjs). */
const RESULTS = [
  'wide _meta',
  'wide _meta with a user interface',
  'three-byte text and a link',
  'a wide block',
  'many numbers in a block',
  'an array as structured content',
  'a long resultType',
];
const MESSAGES = [
  'wide progress',
  'long progress',
  'wide log message',
  'long log message',
  'wide progress of 1 MB',
  'long progress of 1 MB',
  'wide log message of 1 MB',
  'long log message of 1 MB',
  'wide sampling request',
  'sampling request with links',
  'sampling request with a token',
  'elicitation',
  'wide error',
  'error about a URI',
];
const READS = ['x:contents', 'x:same', 'x:text', 'x:other', 'x:wide'];
const PROMPTS = ['links', 'text'];
const INPUTS = ['many input requests', 'long input requests', 'a long state'];
const TEMPLATES = ['alike', 'queries', 'literals', 'distinct'];
const HANDSHAKES = ['empty arrays', 'numbers', 'distinct keys', 'small objects', 'three-byte characters'];

/** The URIs that are matched against 10,000 templates of one server. In the resource form, they have up to 8 KB. */
const URIS = {
  alike: `x://${'a'.repeat(8000)}/end`,
  queries: `x://?${'a=b&'.repeat(2000)}`,
  literals: `x://${'aaaaaaaa/'.repeat(400)}${'b/1'.repeat(1400)}`,
  distinct: `y7777://${'a'.repeat(8000)}/b`,
};
/** A client reads a message of a call that the gateway has forwarded. */
const FORWARDED_BYTES = 500_000;

/** The longest stall of the event loop by results that are rewritten, by lookups in templates and by handshakes. */
export async function messageRewrites() {
  const rows = [
    ...(await whileRunning({ config: configOf, naming: undefined }, measureMessages)),
    ...(await whileRunning({ config: templatesOf, naming: { resources: 'underscore' } }, measureTemplates)),
    ...(await handshakes()),
  ];
  console.log();
  return [...new Set(rows.map(({ kind }) => kind))].map((kind) => ({
    what: `ms of the longest stall by ${kind}`,
    is: Math.max(...rows.filter((row) => row.kind === kind).map(({ ms }) => ms)),
    ceiling: STALL_MS,
  }));
}

const configOf = (url) => ({ results: { url: `${url}/results` }, inputs: { url: `${url}/inputs` } });
const templatesOf = (url) =>
  Object.fromEntries(TEMPLATES.map((kind) => [kind, { url: `${url}/${kind}.templates` }]));

/** Starts the servers and a gateway with the stall gauge, and stops them after `measure`. */
async function whileRunning({ config, naming }, measure) {
  const backend = await startServer([here('../servers/rewrite-backend.mjs')]);
  const gateway = await startServer(
    [
      '--expose-gc',
      `--import=${new URL('../harness/stall-gauge.mjs', import.meta.url).href}`,
      here('../../dist/main.js'),
      '--config',
      writeConfig({ naming, mcpServers: config(backend.url) }),
    ],
    { GATEHOUSE__HTTP__PORT: '0' },
  );
  const rows = await measure(gateway, backend);
  await Promise.all([backend.stop(), gateway.stop()]);
  return rows;
}

function print({ kind, what, outcome, ms }) {
  const name = `${kind}: ${what}`.padEnd(58);
  console.log(`| ${name} | ${`${ms.toFixed(1)} ms`.padStart(10)} | ${String(outcome).slice(0, 70)}`);
}

/** Measures one job after the other. */
function meter(gateway) {
  return async (kind, what, job, minBytes = 1) => {
    await gateway.ask('memory');
    await gateway.ask('stall');
    const outcome = await job();
    await sleep(20);
    const row = { kind, what, outcome, ms: (await gateway.ask('stall')).own };
    print(row);
    requireRun(`${kind}, ${what}`, outcome, minBytes);
    return row;
  };
}

async function measureMessages(gateway) {
  const measure = meter(gateway);
  const send = await openSession(gateway.url);
  const batch = await openSession(gateway.url, '2025-03-26');
  const call = (tool, name) =>
    send('tools/call', `{"name":"${tool}","arguments":{"name":"${name}"},"_meta":{"progressToken":7}}`);
  await until(async () => !/unknown|unavailable/i.test(await call('results__result', 'none')));
  await until(async () => !/unknown|unavailable/i.test(await call('inputs__result', 'none')));
  const rows = [];
  for (const what of RESULTS)
    rows.push(await measure('a rewritten result', what, () => call('results__result', what)));
  for (const uri of READS)
    rows.push(
      await measure('a rewritten result', uri, () =>
        send('resources/read', `{"uri":"resource://results/${uri}"}`),
      ),
    );
  for (const name of PROMPTS)
    rows.push(
      await measure('a rewritten result', `prompt ${name}`, () =>
        send('prompts/get', `{"name":"results__${name}"}`),
      ),
    );
  for (const what of MESSAGES)
    rows.push(
      await measure(
        'a message during a call',
        what,
        () => call('results__result', what),
        what.endsWith('of 1 MB') ? FORWARDED_BYTES : 1,
      ),
    );
  for (const what of INPUTS)
    rows.push(await measure('required input', what, () => unanswered(call('inputs__result', what)), 0));
  for (const shape of ['numbers', 'empty arrays', 'three-byte characters', 'one string'])
    rows.push(
      await measure('a batch of 20 calls', shape, () =>
        batch(
          'tools/call',
          `{"name":"results__result","arguments":{"name":"none","x":${SHAPES[shape](sizeInBatch(shape))}}}`,
          20,
        ),
      ),
    );
  return rows;
}

/** The client does not answer what the server asks, so that such a call does not end. A refused call would end at once. */
const unanswered = (call) => Promise.race([call, sleep(INPUT_MS, '0 bytes')]);

/** A batch has at most 4 MB and 100,000 members. */
const sizeInBatch = (shape) => ({ numbers: 9600, 'empty arrays': 14_000 })[shape] ?? (4 * MB - 8192) / 20;

async function measureTemplates(gateway) {
  const measure = meter(gateway);
  const send = await openSession(gateway.url);
  const read = (uri) => send('resources/read', JSON.stringify({ uri }));
  for (const kind of TEMPLATES)
    await until(
      async () => !/not.found|not available/i.test(await read(`resource://${kind}/${sample(kind)}`)),
    );
  const rows = [];
  for (const kind of TEMPLATES) {
    rows.push(await measure('a lookup in templates', kind, () => read(URIS[kind])));
    rows.push(
      await measure('a lookup in templates', `${kind}, resource form`, () =>
        read(`resource://${kind}/${URIS[kind]}`),
      ),
    );
    rows.push(
      await measure('a lookup in templates', `${kind}, subscribe`, () =>
        send('resources/subscribe', JSON.stringify({ uri: URIS[kind] })),
      ),
    );
    const ref = { type: 'ref/resource', uri: URIS[kind] };
    rows.push(
      await measure('a lookup in templates', `${kind}, completion`, () =>
        send('completion/complete', JSON.stringify({ ref, argument: { name: 'a', value: '' } })),
      ),
    );
    rows.push(
      await measure('a lookup in templates', `${kind}, identifier`, () =>
        read(`${kind}_${schemeOf(URIS[kind])}___${restOf(URIS[kind]).replace(/[^a-z0-9.-]+/g, '_')}`),
      ),
    );
  }
  return rows;
}

const sample = (kind) =>
  ({ alike: 'x://abc/end', queries: 'x://?a=b', literals: 'x://caaaaaaaa/bb/7/c', distinct: 'y7://a/b' })[
    kind
  ];

const schemeOf = (uri) => uri.slice(0, uri.indexOf(':'));
const restOf = (uri) => uri.slice(uri.indexOf('://') + '://'.length);

/** Servers that answer the handshake, or the first list, after the gateway has started. */
async function handshakes() {
  const paths = [
    ...HANDSHAKES.flatMap((shape) => [
      `${encodeURIComponent(shape)}.initialize`,
      `${encodeURIComponent(shape)}.discover`,
    ]),
    'tools',
  ];
  const config = (url) =>
    Object.fromEntries(
      paths.map((path, n) => [
        `s${n}`,
        { url: `${url}/${path}`, ...(path.endsWith('discover') && { era: '2026' }) },
      ]),
    );
  return whileRunning({ config }, async (gateway, backend) => {
    const measure = meter(gateway);
    await sleep(500);
    const rows = [];
    for (const path of paths) {
      const kind = path === 'tools' ? 'a page of 7,000 tools' : 'a handshake of 1 MB';
      rows.push(
        await measure(kind, path, async () => {
          const { held } = await (await fetch(`${backend.url}/${path}/release`, { method: 'POST' })).json();
          await sleep(path === 'tools' ? 1500 : 600);
          return held > 0 ? `${held} bytes` : 'the server was not asked';
        }),
      );
    }
    return rows;
  });
}

async function until(condition) {
  const giveUpAt = Date.now() + 20_000;
  while (!(await condition())) {
    if (Date.now() > giveUpAt) throw new Error('the servers were not listed in time');
    await sleep(100);
  }
}

/** Opens a session. Returns a function that sends a request, or a batch of equal ones, and resolves with the outcome. */
async function openSession(url, protocolVersion = '2025-11-25') {
  const post = (text, headers = {}) =>
    fetch(url, { method: 'POST', headers: { ...HEADERS, ...headers }, body: text });
  const params = {
    protocolVersion,
    capabilities: { sampling: {}, elicitation: {} },
    clientInfo: { name: 'bench', version: '1' },
  };
  const opened = await post(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }));
  await opened.arrayBuffer();
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') };
  const level = { jsonrpc: '2.0', id: 1, method: 'logging/setLevel', params: { level: 'error' } };
  await (await post(JSON.stringify(level), session)).arrayBuffer();
  let lastId = 1;
  return async (method, given, count = 0) => {
    // An earlier request may still be in flight, because the client did not answer what it was asked.
    const message = () => `{"jsonrpc":"2.0","id":${++lastId},"method":"${method}","params":${given}}`;
    const body = count === 0 ? message() : `[${Array.from({ length: count }, message).join(',')}]`;
    const answer = Buffer.from(await (await post(body, session)).arrayBuffer());
    const head = answer.toString('latin1', 0, 400);
    return head.includes('"error":{') ? /"message":"([^"]*)"/.exec(head)?.[1] : `${answer.length} bytes`;
  };
}
