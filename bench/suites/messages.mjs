import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { writeConfig } from '../harness/config-file.mjs';
import { SHAPES, SHAPES_ON_ONE_LINE } from '../harness/json-shapes.mjs';
import { requireRun } from '../harness/outcomes.mjs';
import { startServer } from '../harness/processes.mjs';
import { messageRewrites } from './message-rewrites.mjs';
import { onePage } from './resource-naming.mjs';

const MB = 1_048_576;
const CLIENT_BYTES = 4 * MB - 4096;
const SERVER_BYTES = 16 * MB - 4096;
const LINKS = 80_000;
/** A result of a server, and a request that is forwarded, have at least this many bytes unless they are refused. */
const LONG_RESULT_BYTES = 15 * MB;
const FLOOD_CONNECTIONS = 8;
const FLOOD_MS = 3000;
const STALL_MS = 50;
const TRANSPORTS = ['json', 'events', 'stdio'];
/** How a body without a token is answered. */
const REFUSED = new Set([401, 404, 413, 429]);
/** How a long result is sent to the client other than as plain JSON: the transport of the server, and its shapes. */
const DELIVERIES = [
  {
    what: 'in a batch',
    transport: 'json',
    isBatch: true,
    shapes: ['three-byte characters', 'long strings', 'lines'],
  },
  { what: 'after progress', transport: 'events', shapes: ['three-byte characters', 'long strings'] },
];
/** Messages of a server that are no results. Longer requests, and the data of longer errors, are not forwarded. */
const OTHER_MESSAGES = [
  { as: 'error', transport: 'json', bytes: SERVER_BYTES },
  { as: 'error', transport: 'json', bytes: MB - 4096 },
  { as: 'error', transport: 'events', bytes: SERVER_BYTES },
  { as: 'error', transport: 'stdio', bytes: SERVER_BYTES },
  { as: 'request', transport: 'events', bytes: CLIENT_BYTES },
];
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The longest stall of the event loop that one message of a client or of a server causes, for every shape of content. */
export async function messages() {
  const backends = await Promise.all(
    ['json', 'events'].map((mode) => startServer([here('../servers/message-backend.mjs'), mode])),
  );
  const [json, events] = backends.map(({ url }) => ({ url }));
  const stdio = { command: process.execPath, args: [here('../servers/message-backend.mjs'), 'stdio'] };
  const gateway = await startServer(
    [
      '--expose-gc',
      `--import=${new URL('../harness/stall-gauge.mjs', import.meta.url).href}`,
      here('../../dist/main.js'),
      '--config',
      writeConfig({ mcpServers: { json, events, stdio } }),
    ],
    { GATEHOUSE__HTTP__PORT: '0' },
  );
  const call = await openSession(gateway.url);
  const stallOf = async (job) => {
    await gateway.ask('memory');
    await gateway.ask('stall');
    const outcome = await job();
    await sleep(20);
    return { outcome, ms: (await gateway.ask('stall')).own };
  };
  const rows = [];
  for (const [shape, build] of Object.entries(SHAPES)) {
    const value = build(CLIENT_BYTES);
    const { outcome, ms } = await stallOf(() =>
      call('json__shape', `{"value":${value}}`, '"progressToken":7'),
    );
    const what = `4 MB of a client: ${shape}`;
    requireRun(what, outcome);
    rows.push({ what, outcome, ms });
  }
  for (const transport of TRANSPORTS)
    for (const shape of SHAPES_ON_ONE_LINE) {
      const wanted = JSON.stringify({ shape, bytes: SERVER_BYTES });
      const { outcome, ms } = await stallOf(() => call(`${transport}__shape`, wanted));
      const what = `16 MB of a server, ${transport}: ${shape}`;
      requireRun(what, outcome, LONG_RESULT_BYTES);
      rows.push({ what, outcome, ms });
    }
  const callInBatch = await openSession(gateway.url, '2025-03-26');
  for (const { what, transport, isBatch, shapes } of DELIVERIES)
    for (const shape of shapes) {
      const wanted = JSON.stringify({ shape, bytes: SERVER_BYTES, progress: !isBatch });
      const send = isBatch ? callInBatch : call;
      const { outcome, ms } = await stallOf(() =>
        send(`${transport}__shape`, wanted, '"progressToken":7', isBatch),
      );
      requireRun(what, outcome, LONG_RESULT_BYTES);
      rows.push({ what: `16 MB to a client ${what}: ${shape}`, outcome, ms });
    }
  for (const { as, transport, bytes } of OTHER_MESSAGES)
    for (const shape of SHAPES_ON_ONE_LINE) {
      const wanted = JSON.stringify({ shape, bytes, as });
      const { outcome, ms } = await stallOf(() => call(`${transport}__shape`, wanted));
      const what = `${Math.ceil(bytes / MB)} MB ${as} of a server, ${transport}: ${shape}`;
      requireRun(what, outcome);
      rows.push({ what, outcome, ms });
    }
  for (const transport of TRANSPORTS) {
    const wanted = JSON.stringify({ links: LINKS });
    const { outcome, ms } = await stallOf(() => call(`${transport}__shape`, wanted));
    const what = `80,000 resource links, ${transport}`;
    requireRun(what, outcome, LINKS);
    rows.push({ what, outcome, ms });
  }
  const flood = await floodWithoutToken(gateway);
  await Promise.all([...backends, gateway].map((server) => server.stop()));
  print([
    ...rows,
    { what: 'deep bodies without a token: stall', outcome: `${flood.bodies} bodies`, ms: flood.stall },
  ]);
  print([{ what: 'deep bodies without a token: slowest /health/live', outcome: '', ms: flood.live }]);
  const longest = (prefix) =>
    Math.max(...rows.filter(({ what }) => what.startsWith(prefix)).map(({ ms }) => ms));
  const other = (as) =>
    Math.max(...rows.filter(({ what }) => what.includes(` ${as} of`)).map(({ ms }) => ms));
  return [
    ...(await onePage()),
    ...(await messageRewrites()),
    { what: 'ms of the longest stall by 4 MB of a client', is: longest('4 MB'), ceiling: STALL_MS },
    { what: 'ms of the longest stall by 16 MB of a server', is: longest('16 MB of'), ceiling: STALL_MS },
    {
      what: 'ms of the longest stall by 16 MB in a batch or event',
      is: longest('16 MB to'),
      ceiling: STALL_MS,
    },
    { what: 'ms of the longest stall by an error of a server', is: other('error'), ceiling: STALL_MS },
    { what: 'ms of the longest stall by a request of a server', is: other('request'), ceiling: STALL_MS },
    { what: 'ms of the longest stall by 80,000 resource links', is: longest('80,000'), ceiling: STALL_MS },
    { what: 'ms of the longest stall by bodies without a token', is: flood.stall, ceiling: STALL_MS },
    { what: 'ms of the slowest /health/live meanwhile', is: flood.live, ceiling: 500 },
  ];
}

/** Opens a session. Returns a function that calls a tool with arguments as text and resolves with the outcome. */
async function openSession(url, protocolVersion = '2025-11-25') {
  const post = (text, headers = {}) =>
    fetch(url, { method: 'POST', headers: { ...HEADERS, ...headers }, body: text });
  const params = {
    protocolVersion,
    capabilities: { sampling: {} },
    clientInfo: { name: 'bench', version: '1' },
  };
  const opened = await post(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }));
  await opened.arrayBuffer();
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') };
  const call = async (name, given, meta = '', isBatch = false) => {
    const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${given},"_meta":{${meta}}}}`;
    const answer = Buffer.from(await (await post(isBatch ? `[${message}]` : message, session)).arrayBuffer());
    const head = answer.toString('latin1', 0, 300);
    return head.includes('"error"') ? /"message":"([^"]*)"/.exec(head)?.[1] : `${answer.length} bytes`;
  };
  const giveUpAt = Date.now() + 15_000;
  for (const name of TRANSPORTS)
    while (/unknown|unavailable/i.test(await call(`${name}__shape`, '{}'))) {
      if (Date.now() > giveUpAt) throw new Error(`the server ${name} was not listed in time`);
      await sleep(50);
    }
  return call;
}

/** Sends deeply nested bodies on several connections to paths that need a token, and asks for the health meanwhile. */
async function floodWithoutToken(gateway) {
  const body = SHAPES.nested(MB - 16);
  const until = performance.now() + FLOOD_MS;
  let bodies = 0;
  const send = async (_, index) => {
    const [method, path] = index % 2 === 0 ? ['POST', '/nothing'] : ['PUT', '/admin/v1/servers/x'];
    const headers = { 'content-type': 'application/json' };
    while (performance.now() < until) {
      const response = await fetch(new URL(path, gateway.url), { method, headers, body }).catch(
        () => undefined,
      );
      await response?.arrayBuffer().catch(() => undefined);
      // Closing the connection before the whole body has arrived is a refusal too.
      if (response && !REFUSED.has(response.status))
        throw new Error(`${method} ${path} without a token was answered with HTTP ${response.status}`);
      if (response) bodies++;
    }
  };
  await gateway.ask('stall');
  const flood = Array.from({ length: FLOOD_CONNECTIONS }, send);
  let live = 0;
  while (performance.now() < until) {
    const at = performance.now();
    await (await fetch(new URL('/health/live', gateway.url))).arrayBuffer();
    live = Math.max(live, performance.now() - at);
    await sleep(20);
  }
  await Promise.all(flood);
  if (bodies === 0) throw new Error('no body without a token was answered');
  return { bodies, live, stall: (await gateway.ask('stall')).own };
}

function print(rows) {
  for (const { what, outcome, ms } of rows)
    console.log(
      `| ${what.padEnd(52)} | ${`${ms.toFixed(1)} ms`.padStart(10)} | ${String(outcome).slice(0, 70)}`,
    );
  console.log();
}
