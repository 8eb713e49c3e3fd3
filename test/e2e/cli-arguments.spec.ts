import { beforeAll, expect, it } from '@jest/globals';
import { launch } from '../kit/command-line.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';

const TOOL = JSON.stringify({
  name: 'record',
  inputSchema: {
    type: 'object',
    properties: {
      count: { type: 'integer' },
      ratio: { type: 'number' },
      force: { type: 'boolean' },
      label: { type: 'string' },
      limit: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      tags: { type: 'array' },
    },
  },
});

let gateway: Gateway;
let server: ScriptedServer;

beforeAll(async () => {
  server = (await ScriptedServer.start()).tool('record', () => text('done'), TOOL);
  gateway = await startGateway({ mcpServers: { s: server.http } });
  await gateway.listed({ tools: ['s'] });
});

it.each<[string, unknown]>([
  ['count=20', 20],
  ['count=-3', -3],
  ['ratio=0.25', 0.25],
  ['ratio=7', 7],
  ['force=true', true],
  ['force=false', false],
  ['label=42', '42'],
  ['label=true', 'true'],
  ['limit=null', null],
  ['limit=5', 5],
  ['tags=["a"]', ['a']],
  ['unknown=1', '1'],
  ['label:=42', 42],
])('gatehouse tools call sends %s as the schema of the tool has it', async (pair, value) => {
  const before = server.countOf('tools/call');
  const { code, stdout } = await launch(['tools', 'call', 's__record', pair, '--url', gateway.urlOf('/')])
    .done;
  expect([code, stdout]).toEqual([0, 'done\n']);
  const [name] = pair.split(/:?=/);
  const [call] = server.messages('tools/call').slice(before);
  expect(call?.message.params).toMatchObject({ name: 'record', arguments: { [name!]: value } });
});

it.each([
  ['count=1.5', 'count must be of type integer, not "1.5"'],
  ['force=yes', 'force must be of type boolean, not "yes"'],
])('gatehouse tools call refuses %s and calls no tool', async (pair, words) => {
  const before = server.countOf('tools/call');
  expect(await launch(['tools', 'call', 's__record', pair, '--url', gateway.urlOf('/')]).done).toMatchObject({
    code: 2,
    stdout: '',
    stderr: `gatehouse: ${words}\n`,
  });
  expect(server.countOf('tools/call')).toBe(before);
});
