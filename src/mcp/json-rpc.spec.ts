import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { JsonDocument } from '../lib/json-text/json-document.js';
import { JsonReader } from '../lib/json-text/json-reader.js';
import { JsonText, membersOf } from '../lib/json-text/json-text.js';
import {
  errorMessage,
  isRequestId,
  MAX_ID_LENGTH,
  notificationMessage,
  readMessage,
  requestMessage,
  resultMessage,
  type Inbound,
} from './json-rpc.js';
import { SERVER_JSON_LIMITS } from './json-limits.js';

const read = (text: string): Inbound => readMessage(JsonDocument.of(text));
/** A request whose id has this length. */
const withId = (length: number): Inbound =>
  read(`{"jsonrpc":"2.0","id":"${'x'.repeat(length)}","method":"ping"}`);

const NOT_AN_OBJECT = 'a message must be an object';
const NOT_2_0 = 'jsonrpc must be "2.0"';
const BAD_METHOD = 'method must be a string';
const BAD_PARAMS = 'params must be an object';
const BAD_ID = 'id must be a string or an integer';
const NEITHER = 'a message must be a request, a notification or a response';

describe('readMessage', () => {
  it('reads a request and keeps the text of its params', () => {
    expect(read('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{ "n" : 1.0 }}')).toEqual({
      kind: 'request',
      id: 1,
      method: 'tools/call',
      params: { n: 1 },
      paramsText: '{ "n" : 1.0 }',
      paramsMembers: [{ key: 'n', keyStart: 2, start: 8, end: 11 }],
    });
  });

  it.each(['0', '""', '-1', '"1"', '9007199254740991', '-9007199254740991', '"\\u0000"'])(
    'accepts the id %s',
    (id) => {
      expect(read(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`)).toEqual({
        kind: 'request',
        id: JSON.parse(id),
        method: 'ping',
        params: undefined,
        paramsText: undefined,
      });
    },
  );

  it('refuses an id that is too long, and says which limit refuses it', () => {
    expect(withId(MAX_ID_LENGTH).kind).toBe('request');
    expect(withId(MAX_ID_LENGTH + 1)).toEqual({
      kind: 'invalid',
      id: undefined,
      problem: 'id must not be longer than 1024 characters',
      memoryLimit: 'message-id',
    });
  });

  it('reads a notification', () => {
    const text = '{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}';
    expect(read(text)).toEqual({
      kind: 'notification',
      method: 'notifications/initialized',
      params: {},
      paramsText: '{}',
    });
  });

  it.each([
    ['result', '{"ok" : 1.0}'],
    ['result', 'null'],
    ['result', '[]'],
    ['error', '{"code":-1,"message":"no"}'],
  ])('reads a response and keeps the text of its %s %s', (outcome, text) => {
    expect(read(`{"jsonrpc":"2.0","id":"a","${outcome}":${text}}`)).toEqual({
      kind: 'response',
      id: 'a',
      outcome,
      json: new JsonText(text),
    });
  });

  it('reads the last of two equal keys, as value and as text', () => {
    expect(
      read('{"jsonrpc":"2.0","id":1,"method":"a","method":"b","params":{"a":1},"p\\u0061rams":{"b":2}}'),
    ).toEqual({
      kind: 'request',
      id: 1,
      method: 'b',
      params: { b: 2 },
      paramsText: '{"b":2}',
      paramsMembers: [{ key: 'b', keyStart: 1, start: 5, end: 6 }],
    });
  });

  it('ignores unknown members', () => {
    expect(read('{"x":{"params":[]},"jsonrpc":"2.0","method":"a","__proto__":{"id":1}}')).toMatchObject({
      kind: 'notification',
      method: 'a',
      params: undefined,
    });
  });

  it.each([
    ['null', NOT_AN_OBJECT],
    ['true', NOT_AN_OBJECT],
    ['1', NOT_AN_OBJECT],
    ['"ping"', NOT_AN_OBJECT],
    ['[]', NOT_AN_OBJECT],
    ['[{"jsonrpc":"2.0","method":"ping"}]', NOT_AN_OBJECT],
    ['{}', NOT_2_0],
    ['{"method":"ping"}', NOT_2_0],
    ['{"jsonrpc":2.0,"method":"ping"}', NOT_2_0],
    ['{"jsonrpc":"1.0","method":"ping"}', NOT_2_0],
    ['{"jsonrpc":"2.0 ","method":"ping"}', NOT_2_0],
    ['{"jsonrpc":["2.0"],"method":"ping"}', NOT_2_0],
    ['{"JSONRPC":"2.0","method":"ping"}', NOT_2_0],
    ['{"__proto__":{"jsonrpc":"2.0"},"method":"ping"}', NOT_2_0],
    ['{"jsonrpc":"2.0","method":null}', BAD_METHOD],
    ['{"jsonrpc":"2.0","method":1}', BAD_METHOD],
    ['{"jsonrpc":"2.0","method":["ping"]}', BAD_METHOD],
    ['{"jsonrpc":"2.0","method":{}}', BAD_METHOD],
    ['{"jsonrpc":"2.0","method":"ping","params":null}', BAD_PARAMS],
    ['{"jsonrpc":"2.0","method":"ping","params":[]}', BAD_PARAMS],
    ['{"jsonrpc":"2.0","method":"ping","params":"a"}', BAD_PARAMS],
    ['{"jsonrpc":"2.0","method":"ping","params":0}', BAD_PARAMS],
    ['{"jsonrpc":"2.0","method":"ping","params":false}', BAD_PARAMS],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', BAD_ID],
    ['{"jsonrpc":"2.0","id":true,"method":"ping"}', BAD_ID],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', BAD_ID],
    ['{"jsonrpc":"2.0","id":1e400,"method":"ping"}', BAD_ID],
    ['{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', BAD_ID],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', BAD_ID],
    ['{"jsonrpc":"2.0","id":[1],"method":"ping"}', BAD_ID],
    ['{"jsonrpc":"2.0"}', BAD_ID],
    ['{"jsonrpc":"2.0","result":{}}', BAD_ID],
    ['{"jsonrpc":"2.0","id":null,"error":{}}', BAD_ID],
  ])('refuses %s', (text, problem) => {
    expect(read(text)).toEqual({ kind: 'invalid', id: undefined, problem });
  });

  it.each([
    ['{"jsonrpc":"1.0","id":7,"method":"ping"}', NOT_2_0],
    ['{"jsonrpc":"2.0","id":7,"method":1}', BAD_METHOD],
    ['{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}', BAD_PARAMS],
    ['{"jsonrpc":"2.0","id":7}', NEITHER],
    ['{"jsonrpc":"2.0","id":7,"params":{}}', NEITHER],
    ['{"jsonrpc":"2.0","id":7,"result":{},"error":{}}', NEITHER],
    ['{"jsonrpc":"2.0","id":7,"result":{},"error":null}', NEITHER],
    ['{"jsonrpc":"2.0","id":7,"error":null}', NEITHER],
    ['{"jsonrpc":"2.0","id":7,"error":"no"}', NEITHER],
    ['{"jsonrpc":"2.0","id":7,"error":[]}', NEITHER],
  ])('refuses %s with its id', (text, problem) => {
    expect(read(text)).toEqual({ kind: 'invalid', id: 7, problem });
  });

  it('classifies any JSON without throwing', () => {
    const member = fc.oneof(fc.constant('2.0'), fc.jsonValue({ maxDepth: 2 }));
    const keys = ['jsonrpc', 'id', 'method', 'params', 'result', 'error'];
    const message = fc.record(Object.fromEntries(keys.map((key) => [key, member])), { requiredKeys: [] });
    fc.assert(
      fc.property(fc.oneof(message, fc.jsonValue()), (value) => {
        const text = JSON.stringify(value);
        expect(['request', 'notification', 'response', 'invalid']).toContain(read(text).kind);
      }),
    );
  });
});

/** Params with so many members. */
const paramsOf = (count: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, { n }])));
const readParams = (params: string): Inbound =>
  read(`{"jsonrpc":"2.0","id":1,"params":{},"method":"a", "params": ${params}}`);

describe('readMessage of short params', () => {
  it('has the positions of the members in the text of the params', () => {
    const params = paramsOf(32);
    expect(readParams(params)).toMatchObject({ paramsText: params, paramsMembers: membersOf(params) });
  });

  it('does not keep the positions of many members', () => {
    expect(readParams(paramsOf(33))).toMatchObject({ paramsMembers: undefined });
  });
});

describe('readMessage of a long text', () => {
  it.each([40_000, 2_000_000])('refuses an id of %i characters like a shorter one', (length) => {
    const reader = new JsonReader({ ...SERVER_JSON_LIMITS, maxBytes: 4_000_000 });
    const text = JSON.stringify({ jsonrpc: '2.0', id: 'x'.repeat(length), method: 'ping' });
    const document = reader.read(Buffer.from(text)) as JsonDocument;
    expect(readMessage(document)).toMatchObject({ kind: 'invalid', memoryLimit: 'message-id' });
  });

  it('has the text and the members of long params', () => {
    const reader = new JsonReader({ ...SERVER_JSON_LIMITS, maxBytes: 4_000_000 });
    const params = `{"a":1.0,"s":"${'x'.repeat(40_000)}"}`;
    const text = `{"jsonrpc":"2.0","id":1,"method":"ping","params":${params}}`;
    const message = readMessage(reader.read(Buffer.from(text)) as JsonDocument);
    expect(message).toMatchObject({ kind: 'request', id: 1, paramsJson: { isLongObject: true } });
    expect(message).toMatchObject({ paramsText: params, paramsMembers: [{ key: 'a' }, { key: 's' }] });
  });
});

describe('a written message', () => {
  const ids = [0, '', 'a"b', -5];

  it.each(ids)('has the id %j', (id) => {
    expect(JSON.parse(resultMessage(id, {}))).toEqual({ jsonrpc: '2.0', id, result: {} });
    expect(JSON.parse(errorMessage(id, '{"code":1}'))).toEqual({ jsonrpc: '2.0', id, error: { code: 1 } });
    expect(JSON.parse(requestMessage(id, 'ping', '{}'))).toEqual({
      jsonrpc: '2.0',
      id,
      method: 'ping',
      params: {},
    });
  });

  it('has the result as the server wrote it', () => {
    expect(resultMessage(1, new JsonText('{"n": 1.0}'))).toBe('{"jsonrpc":"2.0","id":1,"result":{"n": 1.0}}');
  });

  it.each([undefined, null])('has an empty result for %s', (nothing) => {
    expect(resultMessage(1, nothing)).toBe('{"jsonrpc":"2.0","id":1,"result":{}}');
  });

  it('omits an unknown id', () => {
    expect(errorMessage(undefined, '{"code":1}')).toBe('{"jsonrpc":"2.0","error":{"code":1}}');
  });

  it('omits absent params', () => {
    expect(requestMessage(1, 'ping', undefined)).toBe('{"jsonrpc":"2.0","id":1,"method":"ping"}');
    expect(notificationMessage('a"b', undefined)).toBe('{"jsonrpc":"2.0","method":"a\\"b"}');
    expect(notificationMessage('x', '{ }')).toBe('{"jsonrpc":"2.0","method":"x","params":{ }}');
  });

  it('is read back unchanged', () => {
    const id = fc.oneof(fc.string(), fc.maxSafeInteger());
    fc.assert(
      fc.property(id, fc.string(), fc.dictionary(fc.string(), fc.jsonValue()), (given, method, params) => {
        const text = JSON.stringify(params);
        const plain = JSON.parse(text) as unknown;
        expect(read(requestMessage(given, method, text))).toEqual({
          kind: 'request',
          // JSON has no -0.
          id: typeof given === 'number' ? given + 0 : given,
          method,
          params: plain,
          paramsText: text,
          paramsMembers: membersOf(text),
        });
        expect(read(notificationMessage(method, text))).toMatchObject({ kind: 'notification', method });
        expect(read(resultMessage(given, new JsonText(text)))).toMatchObject({
          kind: 'response',
          json: { text },
        });
      }),
    );
  });
});

describe('isRequestId', () => {
  it.each([null, undefined, true, 1.5, NaN, Infinity, 2 ** 53, {}, [], 1n])('is false for %p', (value) => {
    expect(isRequestId(value)).toBe(false);
  });
});
