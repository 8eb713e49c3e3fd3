import { describe, expect, it } from '@jest/globals';
import { GatewayError, RemoteError, serverUnavailable, type ErrorKind } from '../core/errors.js';
import { JsonText } from '../lib/json-text/json-text.js';
import { outcomeOfFailure, outcomeOfResult } from './call-outcome.js';

describe('call outcome', () => {
  it.each([
    ['{"content":[]}', 'ok'],
    ['{"content":[],"isError":false}', 'ok'],
    ['{"content":[],"isError":true}', 'tool_error'],
    ['{ "isError" : true, "content": [] }', 'tool_error'],
    ['{"content":[],"\\u0069sError":true}', 'tool_error'],
    ['{"content":[],"isErro\\u0072":false}', 'ok'],
    ['{"structuredContent":{"isError":true},"content":[]}', 'ok'],
    ['{"content":[{"type":"text","text":"\\"isError\\":true"}]}', 'ok'],
  ])('of the result %s is %s', (text, outcome) => {
    expect(outcomeOfResult(new JsonText(text))).toBe(outcome);
  });

  it.each<[ErrorKind, string]>([
    ['timeout', 'timeout'],
    ['overloaded', 'overloaded'],
    ['cancelled', 'cancelled'],
    ['internal', 'error'],
  ])('of the error kind %s is %s', (kind, outcome) => {
    expect(outcomeOfFailure(new GatewayError(kind, 'no'))).toBe(outcome);
  });

  it('distinguishes an unavailable server from an error response', () => {
    expect(outcomeOfFailure(serverUnavailable('s', 'it is down'))).toBe('unavailable');
    expect(outcomeOfFailure(new RemoteError(-1, 'no', '{}'))).toBe('error');
    expect(outcomeOfFailure('not an error')).toBe('error');
  });
});
