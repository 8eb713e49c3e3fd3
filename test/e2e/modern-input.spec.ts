import { resolve } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawModernClient, type ModernAnswer } from '../kit/raw-modern-client.js';
import { everythingOverStdio } from '../kit/real-servers.js';
import { connectModern, type ClientV2 } from '../kit/sdk-clients.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';

const FIXTURE = { command: process.execPath, args: [resolve('test/conformance/fixture/stdio.mjs')] };
const ALL = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} };

const textOf = ({ content }: { readonly content?: unknown }): string =>
  (content as readonly { readonly text: string }[])[0]!.text;
const stateOf = ({ result }: ModernAnswer): string => String(result?.['requestState']);

describe('an SDK client of revision 2026-07-28', () => {
  let gateway: Gateway;
  let client: ClientV2;
  const asked: unknown[] = [];

  beforeAll(async () => {
    gateway = await startGateway({
      mcpServers: { everything: everythingOverStdio(), fixture: FIXTURE },
    });
    await gateway.listed({ tools: ['everything', 'fixture'] });
    client = await connectModern(gateway.url, ALL, (own) => {
      own.setRequestHandler('elicitation/create', ({ params }) => {
        asked.push(params);
        return {
          action: 'accept',
          content: { name: 'Ada', check: true, username: 'ada', email: 'ada@x.org' },
        };
      });
      own.setRequestHandler('sampling/createMessage', ({ params }) => {
        asked.push(params);
        return { model: 'm', role: 'assistant', content: { type: 'text', text: 'sampled' } };
      });
    });
    await client.listTools();
  });
  beforeEach(() => void asked.splice(0));

  it.each([
    ['everything__trigger-sampling-request', { prompt: 'p' }, 'sampled'],
    ['everything__trigger-elicitation-request', {}, 'Ada'],
    ['fixture__test_sampling', { prompt: 'p' }, 'LLM response: sampled'],
    ['fixture__test_elicitation', { message: 'm' }, 'action=accept, content={"name":"Ada"'],
    ['fixture__test_elicitation_sep1330_enums', {}, 'action=accept'],
  ])('answers the question of %s', async (name, args, expected) => {
    const result = await client.callTool({ name, arguments: args });
    expect(JSON.stringify(result.content).replaceAll('\\', '')).toContain(expected);
    expect(asked).toHaveLength(1);
  });

  it('is asked to open a URL that a server requires with an error, and by the question that follows', async () => {
    const args = { url: 'https://example.org/a', message: 'open', errorPath: true };
    const result = await client.callTool({ name: 'everything__trigger-url-elicitation', arguments: args });
    expect(textOf(result)).toContain('User completed the URL elicitation flow');
    expect(asked).toEqual([
      expect.objectContaining({ mode: 'url', url: 'https://modelcontextprotocol.io' }),
      expect.objectContaining({ mode: 'url', url: 'https://example.org/a' }),
    ]);
    for (const params of asked) expect(params).not.toHaveProperty('elicitationId');
  });
});

describe('a restart of the gateway', () => {
  it('ends parked calls, and the next process says so', async () => {
    const scripted = await ScriptedServer.start();
    scripted.tool('ask', async (call) =>
      text(String((await call.sendRequest('elicitation/create', { message: 'm' })).error?.message)),
    );
    const config = { mcpServers: { http: scripted.http } };
    const gateway = await startGateway(config);
    await gateway.listed({ tools: ['http'] });
    const first = await new RawModernClient(gateway.url).callTool('http__ask');
    await gateway.stop();
    expect(await gateway.logged({ message: 'parked calls were cancelled' })).toMatchObject({ calls: 1 });
    const next = await startGateway(config);
    await next.listed({ tools: ['http'] });
    const more = { requestState: stateOf(first), inputResponses: { q1: { action: 'accept' } } };
    expect((await new RawModernClient(next.url).callTool('http__ask', {}, more)).error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/another process of the gateway.* Repeat the request/),
    });
  });
});
