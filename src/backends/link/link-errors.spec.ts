import { describe, expect, it } from '@jest/globals';
import { JsonProblem, JsonReader } from '../../lib/json-text/json-reader.js';
import { SERVER_JSON_LIMITS } from '../../mcp/json-limits.js';
import { RemoteError } from '../../core/errors.js';
import { brokenError, isLongError, remoteError, unavailableReason } from './link-errors.js';
import { TransportError } from './transport.js';

const MB = 1_048_576;

/** The error of a response, as a transport reads it. */
function errorOf(error: object) {
  const reader = new JsonReader({ ...SERVER_JSON_LIMITS, maxBytes: 16 * MB });
  const read = reader.read(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, error })));
  if (read instanceof JsonProblem) throw read;
  return read.member('error')!;
}

const dataOf = (length: number) => ({ code: 7, message: 'failed', data: 'x'.repeat(length) });

describe('remoteError', () => {
  it('keeps the text of an error of up to 1 MB', () => {
    const error = dataOf(MB - 100);
    expect(remoteError(errorOf(error))).toMatchObject({ code: 7, text: JSON.stringify(error) });
    expect(isLongError(errorOf(error))).toBe(false);
  });

  it('leaves out the data of a longer error, and keeps its code and message', () => {
    const error = remoteError(errorOf(dataOf(MB)));
    expect(error).toMatchObject({ code: 7, message: 'failed', text: '{"code":7,"message":"failed"}' });
    expect(isLongError(errorOf(dataOf(MB)))).toBe(true);
  });

  it('does not forward an error with a message of more than 1 MB', () => {
    const error = remoteError(errorOf({ code: 7, message: 'x'.repeat(MB) }));
    expect(error).not.toBeInstanceOf(RemoteError);
    expect(error.message).toContain('has more than 1048576 bytes');
  });
});

describe('unavailableReason', () => {
  it.each([
    ['too-large', 'too-large'],
    ['broken', 'crashed'],
  ] as const)('is, for the fault %s of an ended process, %s', (fault, reason) => {
    const failure = new TransportError(fault, 'x', { hasExited: true });
    expect(unavailableReason(failure)).toBe(reason);
    expect(unavailableReason(brokenError('x', { cause: failure }))).toBe(reason);
  });
});
