import { resolve } from 'node:path';
import {
  CreateMessageRequestSchema,
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  type TextContent,
} from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { ModernSdkServer } from '../kit/modern-server/modern-sdk-server.js';
import { buildServer } from '../kit/modern-server/offer.mjs';
import { connectModern, connectV1, connectV2, type ClientV2 } from '../kit/sdk-clients.js';
import { until } from '../kit/until.js';

const SERVERS = ['http', 'stdio'] as const;
const ALL = { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } };
const ROOTS = { roots: [{ uri: 'file:///home/ada', name: 'home' }] };
const WORDS = { model: 'm', role: 'assistant' as const, content: { type: 'text' as const, text: 'words' } };
const ACCEPTED = { action: 'accept' as const };

const answersIn = (result: unknown): unknown =>
  JSON.parse((result as { content: TextContent[] }).content[0]!.text);

const answerAll = (own: ClientV2): void => {
  own.setRequestHandler('roots/list', () => ROOTS);
  own.setRequestHandler('sampling/createMessage', () => WORDS);
  own.setRequestHandler('elicitation/create', () => ACCEPTED);
};

describe('a tool of a server of 2026 that asks for roots, a message and a URL at once', () => {
  let gateway: Gateway;

  beforeAll(async () => {
    const server = await ModernSdkServer.start(() => buildServer());
    const stdio = {
      command: process.execPath,
      args: [resolve('test/kit/modern-server/stdio.mjs'), 'reject'],
    };
    gateway = await startGateway({
      http: { modern: true },
      mcpServers: { http: { url: server.url }, stdio },
    });
    await gateway.listed({ tools: SERVERS });
  });

  it.each(SERVERS)('gets the answers of a client of SDK 1.x (%s)', async (server) => {
    const opened: unknown[] = [];
    const completed: unknown[] = [];
    const client = await connectV1(gateway.url, ALL, (own) => {
      own.setRequestHandler(ListRootsRequestSchema, () => ROOTS);
      own.setRequestHandler(CreateMessageRequestSchema, () => WORDS);
      own.setRequestHandler(ElicitRequestSchema, ({ params }) => (opened.push(params), ACCEPTED));
      own.setNotificationHandler(
        ElicitationCompleteNotificationSchema,
        ({ params }) => void completed.push(params.elicitationId),
      );
    });
    const result = await client.callTool({ name: `${server}__ask-all`, arguments: {} });
    expect(answersIn(result)).toEqual({ roots: ROOTS, words: WORDS, page: ACCEPTED });
    expect(opened).toEqual([
      { mode: 'url', message: 'Open it', url: 'https://example.org/page', elicitationId: expect.any(String) },
    ]);
    await until('the elicitation is complete', () => completed.length > 0);
    expect(completed).toEqual([(opened[0] as { elicitationId: string }).elicitationId]);
  });

  it.each([
    ['http', 'legacy'],
    ['http', '2026'],
    ['stdio', 'legacy'],
    ['stdio', '2026'],
  ])('gets the answers of a client of SDK 2.x (%s, %s)', async (server, era) => {
    const connect = era === '2026' ? connectModern : connectV2;
    const client = await connect(gateway.url, ALL, answerAll);
    const result = await client.callTool({ name: `${server}__ask-all`, arguments: {} });
    expect(answersIn(result)).toEqual({ roots: ROOTS, words: WORDS, page: ACCEPTED });
  });

  it.each(SERVERS)('fails with a result if a client of 2025 lacks a capability (%s)', async (server) => {
    const client = await connectV1(gateway.url, { roots: {}, sampling: {} }, (own) => {
      own.setRequestHandler(ListRootsRequestSchema, () => ROOTS);
      own.setRequestHandler(CreateMessageRequestSchema, () => WORDS);
    });
    const result = await client.callTool({ name: `${server}__ask-all`, arguments: {} });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('elicitation') }],
    });
  });
});
