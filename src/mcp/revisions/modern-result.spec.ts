import { describe, expect, it } from '@jest/globals';
import { JsonReader } from '../../lib/json-text/json-reader.js';
import type { JsonDocument } from '../../lib/json-text/json-document.js';
import { JsonText, SharedJson } from '../../lib/json-text/json-text.js';
import { ANONYMOUS, type Principal } from '../principal.js';
import { modernResult } from './modern-result.js';

const KEY: Principal = { id: 'key:ci', grants: '*' };

function messageOf(method: string, result: JsonText, principal = ANONYMOUS): string {
  const { head, result: dressed } = modernResult({ requestId: 7, method, principal }, result);
  const rest = dressed instanceof SharedJson ? dressed.bytes.subarray(1).toString() : dressed.text.slice(1);
  return `${head}${rest}}`;
}

/** The text of the result in the message. */
const resultOf = (method: string, result: string, principal?: Principal): string => {
  const message = messageOf(method, new JsonText(result), principal);
  expect(JSON.parse(message)).toMatchObject({ jsonrpc: '2.0', id: 7 });
  return message.slice('{"jsonrpc":"2.0","id":7,"result":'.length, -1);
};

/** A result that was scanned and not parsed, because it is long. */
function scanned(text: string): JsonText {
  const reader = new JsonReader({ maxDepth: 64, maxMembers: 1e6, maxBytes: Infinity });
  return (reader.read(Buffer.from(`{"result":${text}}`)) as JsonDocument).member('result')!;
}

const NEVER = '"ttlMs":0,"cacheScope":"private"';

describe('modernResult', () => {
  it.each([
    ['tools/list', '{"tools":[]}', `{"resultType":"complete",${NEVER},"tools":[]}`],
    ['server/discover', '{"a":1}', `{"resultType":"complete",${NEVER},"a":1}`],
    ['tools/call', '{"content":[]}', '{"resultType":"complete","content":[]}'],
    ['tools/call', '{"isError":true}', '{"resultType":"complete","content":[],"isError":true}'],
    ['tools/call', '{}', '{"resultType":"complete","content":[]}'],
    ['tools/call', '{ }', '{"resultType":"complete","content":[] }'],
    [
      'tools/call',
      '{"structuredContent":{"content":1}}',
      '{"resultType":"complete","content":[],"structuredContent":{"content":1}}',
    ],
    ['tools/call', '{"n":1.0,"content":[]}', '{"resultType":"complete","n":1.0,"content":[]}'],
    ['prompts/get', '{"messages":[]}', '{"resultType":"complete","messages":[]}'],
    ['completion/complete', '{}', '{"resultType":"complete"}'],
    ['resources/read', '{"contents":[]}', `{"resultType":"complete",${NEVER},"contents":[]}`],
    // What a server of 2026 wrote stays.
    ['tools/call', '{"content":[],"resultType":"complete"}', '{"content":[],"resultType":"complete"}'],
    ['tools/call', '{"resultType":"complete"}', '{"content":[],"resultType":"complete"}'],
    [
      'tools/call',
      '{"resultType":"input_required","requestState":"s"}',
      '{"resultType":"input_required","requestState":"s"}',
    ],
    [
      'resources/read',
      '{"resultType":"input_required","requestState":"s"}',
      '{"resultType":"input_required","requestState":"s"}',
    ],
    [
      'resources/read',
      '{"resultType":"complete","ttlMs":5,"cacheScope":"public","contents":[]}',
      '{"resultType":"complete","ttlMs":5,"cacheScope":"public","contents":[]}',
    ],
    [
      'resources/read',
      '{"ttlMs":5,"contents":[]}',
      '{"resultType":"complete","cacheScope":"private","ttlMs":5,"contents":[]}',
    ],
  ])('of %s %s', (method, result, expected) => {
    expect(resultOf(method, result)).toBe(expected);
  });

  it('makes the scope of a read private if the caller is authenticated', () => {
    const result = '{"resultType":"complete","ttlMs":5,"cacheScope":"public","contents":[]}';
    expect(resultOf('resources/read', result, KEY)).toBe(
      '{"cacheScope":"private","resultType":"complete","ttlMs":5,"contents":[]}',
    );
  });

  it('keeps the bytes of a page that other clients get too', () => {
    const page = new SharedJson('{"tools":[{"name":"ö"}]}');
    const { bytes } = page;
    expect(modernResult({ requestId: 7, method: 'tools/list', principal: KEY }, page).result).toBe(page);
    expect(page.bytes).toBe(bytes);
    expect(messageOf('tools/list', page)).toBe(
      `{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete",${NEVER},"tools":[{"name":"ö"}]}}`,
    );
  });

  it.each(['tools/call', 'resources/read'])('keeps the bytes of a long result of %s', (method) => {
    const text = JSON.stringify({ content: [{ type: 'text', text: 'ö'.repeat(40_000) }], contents: [] });
    const long = scanned(text);
    const { bytes } = long as SharedJson;
    expect(modernResult({ requestId: 7, method, principal: KEY }, long).result).toBe(long);
    expect((long as SharedJson).bytes).toBe(bytes);
    expect(JSON.parse(messageOf(method, long))).toMatchObject({
      result: { resultType: 'complete', ...(JSON.parse(text) as object) },
    });
  });

  it('is valid JSON for an empty object with very many spaces', () => {
    const long = scanned(`{${' '.repeat(40_000)}}`);
    expect(JSON.parse(messageOf('tools/call', long))).toMatchObject({ result: { content: [] } });
  });

  it('of a long result without content has one', () => {
    const long = scanned(JSON.stringify({ structuredContent: { content: 'x'.repeat(40_000) } }));
    expect(JSON.parse(messageOf('tools/call', long))).toMatchObject({ result: { content: [] } });
  });
});
