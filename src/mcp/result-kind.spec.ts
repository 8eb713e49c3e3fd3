import { describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { JsonDocument } from '../lib/json-text/json-document.js';
import { JsonReader } from '../lib/json-text/json-reader.js';
import { JsonText } from '../lib/json-text/json-text.js';
import { SERVER_JSON_LIMITS } from './json-limits.js';
import { resultKindOf, resultTypeIn } from './result-kind.js';

const kindOf = (text: string): string => resultKindOf(new JsonText(text));

/** The result as it arrives, within a response. */
const resultOf = (text: string): JsonText => JsonDocument.of(`{"result":${text}}`).member('result')!;

describe('resultKindOf', () => {
  it.each([
    ['{}', 'complete'],
    ['{"content":[]}', 'complete'],
    ['{"content":[],"resultType":"complete"}', 'complete'],
    ['{ "resultType" : "complete" }', 'complete'],
    ['{"resultType":"input_required","requestState":"s"}', 'input_required'],
    ['{"resultType":"complete","resultType":"input_required"}', 'input_required'],
    ['{"resultType":"input_required","inputRequests":{"a":{"resultType":"complete"}}}', 'input_required'],
    ['{"resultType":"input_\\u0072equired"}', 'input_required'],
    ['{"result\\u0054ype":"input_required","a":{"resultType":"complete"}}', 'input_required'],
    ['{"structuredContent":{"resultType":"input_required"},"resultType":"complete"}', 'complete'],
    ['{"content":[{"type":"text","text":"\\"resultType\\":\\"input_required\\""}]}', 'complete'],
    ['{"resultType":"task"}', 'unknown'],
    ['{"resultType":"task","a":{"resultType":"complete"}}', 'unknown'],
    ['{"resultType":null}', 'unknown'],
    ['{"resultType":{}}', 'unknown'],
  ])('of %s is %s', (text, kind) => {
    expect(kindOf(text)).toBe(kind);
    expect(resultKindOf(resultOf(text))).toBe(kind);
  });

  it('is found in a parsed result without reading its text', () => {
    const result = resultOf('{"content":[],"resultType":"input_required"}');
    jest.spyOn(result, 'memberText').mockImplementation(() => {
      throw new Error('the text was read');
    });
    expect(resultKindOf(result)).toBe('input_required');
  });

  it('is unknown for a long value, which is not read', () => {
    const reader = new JsonReader({ ...SERVER_JSON_LIMITS, maxBytes: 1_000_000 });
    const message = JSON.stringify({ result: { resultType: 'x'.repeat(100_000) } });
    const result = (reader.read(Buffer.from(message)) as JsonDocument).member('result')!;
    const parse = jest.spyOn(JSON, 'parse');
    expect([resultKindOf(result), resultTypeIn(result)]).toEqual(['unknown', 'a long value']);
    expect(parse.mock.calls.every(([text]) => text.length < 100)).toBe(true);
    parse.mockRestore();
  });

  it('of a long result is what its member says', () => {
    const reader = new JsonReader({ ...SERVER_JSON_LIMITS, maxBytes: 1_000_000 });
    const message = JSON.stringify({
      result: { content: 'x'.repeat(100_000), resultType: 'input_required' },
    });
    const document = reader.read(Buffer.from(message)) as JsonDocument;
    expect(resultKindOf(document.member('result')!)).toBe('input_required');
  });

  it('is what JSON.parse finds in any object', () => {
    const key = fc.constantFrom('resultType', 'content', 'a');
    const word = fc.constantFrom('complete', 'input_required', 'task');
    const value = fc.oneof(word, fc.dictionary(key, word));
    fc.assert(
      fc.property(fc.dictionary(key, value), fc.constantFrom(0, 1), (object, indent) => {
        const expected = 'resultType' in object ? object['resultType'] : 'complete';
        const known = expected === 'complete' || expected === 'input_required';
        expect(kindOf(JSON.stringify(object, null, indent))).toBe(known ? expected : 'unknown');
      }),
    );
  });
});
