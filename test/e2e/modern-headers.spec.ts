import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { envelopeOf, MODERN_VERSION } from '../kit/modern-calls.js';
import {
  ANSWERED,
  bodyWith,
  outcomeOf,
  refused,
  toolCall,
  type ModernRequest,
  type Outcome,
} from '../kit/modern-outcomes.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';

/*
 * The headers of a request of revision 2026-07-28 repeat parts of its body. The page basic/transports/streamable-http of the
 * specification, section Request Metadata, says what they must be; every contradiction is a header mismatch.
 */

const MISMATCH = refused(400, -32020);
const ACCENTED = 'notes://café';

const base64 = (value: string | Buffer): string => `=?base64?${Buffer.from(value).toString('base64')}?=`;

const PROPERTIES = {
  region: { type: 'string', 'x-mcp-header': 'Region' },
  count: { type: 'integer', 'x-mcp-header': 'Count' },
  dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
  nested: { type: 'object', properties: { zone: { type: 'string', 'x-mcp-header': 'Zone' } } },
};
const MIRRORED = JSON.stringify({
  name: 'mirrored',
  inputSchema: { type: 'object', properties: PROPERTIES },
});

/** A call with its arguments as text, because a number has several spellings. */
const mirrored = (args: string, headers: Readonly<Record<string, string | string[]>>): ModernRequest => ({
  ...toolCall('mirrored'),
  headers,
  body: bodyWith(
    'tools/call',
    `{"name":"mirrored","arguments":${args},"_meta":${JSON.stringify(envelopeOf())}}`,
  ),
});

let gateway: Gateway;

const send = (request: ModernRequest): Promise<Outcome> => outcomeOf(gateway.url, request);

beforeAll(async () => {
  const server = await ScriptedServer.start();
  server
    .tool('echo', (received) => text(received.text))
    .tool('mirrored', () => text('called'), MIRRORED)
    .prompt('greet', () => ({ messages: [] }))
    .resource('notes://a')
    .resource('notes://b')
    .resource(ACCENTED);
  gateway = await startGateway({
    naming: { tools: 'never', resources: 'original' },
    mcpServers: { s: server.stdio() },
  });
  await gateway.listed({ tools: ['s'], resources: ['s'] });
});

describe('a standard header', () => {
  it.each<[string, ModernRequest]>([
    ['name in capitals', { headers: { 'mcp-method': undefined, 'MCP-METHOD': 'tools/list' } }],
    ['value with spaces around it', { headers: { 'mcp-method': ' tools/list\t' } }],
    ['Mcp-Name of a method without a name', { headers: { 'mcp-name': 'echo' } }],
  ])('is accepted: %s', async (_what, request) => {
    expect(await send(request)).toMatchObject(ANSWERED);
  });

  const greet = { method: 'prompts/get', params: { name: 'greet' } };
  const read = { method: 'resources/read', params: { uri: 'notes://a' } };

  it.each<[string, ModernRequest]>([
    ['no version', { headers: { 'mcp-protocol-version': undefined } }],
    ['an empty version', { headers: { 'mcp-protocol-version': '' } }],
    ['a version of 2025', { headers: { 'mcp-protocol-version': '2025-11-25' } }],
    ['two versions', { headers: { 'mcp-protocol-version': [MODERN_VERSION, '2025-11-25'] } }],
    ['no method', { headers: { 'mcp-method': undefined } }],
    ['another method', { headers: { 'mcp-method': 'prompts/list' } }],
    ['a method in capitals', { headers: { 'mcp-method': 'TOOLS/LIST' } }],
    ['two methods', { headers: { 'mcp-method': ['tools/list', 'tools/call'] } }],
    ['a method in base64', { headers: { 'mcp-method': base64('tools/list') } }],
    ['no name of a tool', { ...toolCall('echo'), headers: { 'mcp-name': undefined } }],
    ['another name of a tool', { ...toolCall('echo'), headers: { 'mcp-name': 'mirrored' } }],
    ['a name of a tool in capitals', { ...toolCall('echo'), headers: { 'mcp-name': 'ECHO' } }],
    ['two names', { ...toolCall('echo'), headers: { 'mcp-name': ['echo', 'mirrored'] } }],
    ['no name of a prompt', { ...greet, headers: { 'mcp-name': undefined } }],
    ['no URI of a resource', { ...read, headers: { 'mcp-name': undefined } }],
    ['another URI of a resource', { ...read, headers: { 'mcp-name': 'notes://b' } }],
  ])('is refused: %s', async (_what, request) => {
    expect(await send(request)).toMatchObject(MISMATCH);
  });
});

describe('an Mcp-Name in base64', () => {
  const read = { method: 'resources/read', params: { uri: ACCENTED } };

  it.each<[string, ModernRequest]>([
    ['a tool', { ...toolCall('echo'), headers: { 'mcp-name': base64('echo') } }],
    ['a resource', { ...read, headers: { 'mcp-name': base64(ACCENTED) } }],
  ])('is accepted if it decodes to the name of %s', async (_what, request) => {
    expect(await send(request)).toMatchObject(ANSWERED);
  });

  it.each<[string, string]>([
    ['another name', base64('mirrored')],
    ['a wrong padding', '=?base64?ZWNobw=?='],
    ['no padding', '=?base64?ZWNobw?='],
    ['characters that base64 does not have', '=?base64?ZW!!obw==?='],
    ['a character of base64url', '=?base64?ZWN_bw==?='],
    ['a marker in capitals', '=?BASE64?ZWNobw==?='],
    ['no end', '=?base64?ZWNobw=='],
    ['nothing in it', '=?base64??='],
    ['bytes that are not UTF-8', base64(Buffer.from([0x65, 0xff]))],
  ])('is refused with %s', async (_what, name) => {
    expect(await send({ ...toolCall('echo'), headers: { 'mcp-name': name } })).toMatchObject(MISMATCH);
  });

  it('is required for a name beyond ASCII', async () => {
    expect(await send({ ...read, headers: { 'mcp-name': ACCENTED } })).toMatchObject(MISMATCH);
  });
});

describe('an Mcp-Param header', () => {
  it.each<[string, string, Record<string, string>]>([
    ['text', '{"region":"eu"}', { 'mcp-param-region': 'eu' }],
    ['text in base64', '{"region":"Zürich"}', { 'mcp-param-region': base64('Zürich') }],
    ['text with escapes', String.raw`{"region":"\u0065u"}`, { 'mcp-param-region': 'eu' }],
    ['text that begins like base64', '{"region":"=?base64?SGVs"}', { 'mcp-param-region': '=?base64?SGVs' }],
    ['empty text', '{"region":""}', { 'mcp-param-region': '' }],
    ['an integer', '{"count":42}', { 'mcp-param-count': '42' }],
    ['an integer with decimals in the header', '{"count":42}', { 'mcp-param-count': '42.0' }],
    ['an integer with decimals in the body', '{"count":42.0}', { 'mcp-param-count': '42' }],
    ['an integer with an exponent in the body', '{"count":4.2e1}', { 'mcp-param-count': '42' }],
    ['a negative integer', '{"count":-7}', { 'mcp-param-count': '-7' }],
    ['a boolean', '{"dry":false}', { 'mcp-param-dry': 'false' }],
    ['a nested value', '{"nested":{"zone":"a"}}', { 'mcp-param-zone': 'a' }],
    ['no value', '{}', {}],
    ['null', '{"region":null}', {}],
    ['a value at another place', '{"zone":"a"}', {}],
    ['a header of no argument', '{}', { 'mcp-param-other': 'x' }],
  ])('is accepted for %s', async (_what, args, headers) => {
    expect(await send(mirrored(args, headers))).toMatchObject(ANSWERED);
  });

  it.each<[string, string, Record<string, string | string[]>]>([
    ['missing', '{"region":"eu"}', {}],
    ['missing for a nested value', '{"nested":{"zone":"a"}}', {}],
    ['another text', '{"region":"eu"}', { 'mcp-param-region': 'us' }],
    ['text in capitals', '{"region":"eu"}', { 'mcp-param-region': 'EU' }],
    ['base64 with a wrong padding', '{"region":"Hello"}', { 'mcp-param-region': '=?base64?SGVsbG8?=' }],
    ['base64 with other characters', '{"region":"Hello"}', { 'mcp-param-region': '=?base64?SGVs!!!bG8=?=' }],
    ['sent twice', '{"region":"eu"}', { 'mcp-param-region': ['eu', 'us'] }],
    ['another integer', '{"count":42}', { 'mcp-param-count': '43' }],
    ['an integer in hexadecimal', '{"count":42}', { 'mcp-param-count': '0x2a' }],
    ['empty for zero', '{"count":0}', { 'mcp-param-count': '' }],
    ['two integers', '{"count":42}', { 'mcp-param-count': ['42', '43'] }],
    ['a number in another spelling for text', '{"region":"42"}', { 'mcp-param-region': '42.0' }],
    ['a boolean in capitals', '{"dry":true}', { 'mcp-param-dry': 'True' }],
    ['a number for a boolean', '{"dry":true}', { 'mcp-param-dry': '1' }],
    ['the first of a repeated argument', '{"region":"eu","region":"us"}', { 'mcp-param-region': 'eu' }],
  ])('is refused if it is %s', async (_what, args, headers) => {
    expect(await send(mirrored(args, headers))).toMatchObject(MISMATCH);
  });
});
