import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ERROR_CODES, GatewayError, RemoteError, type ErrorKind } from '../core/errors.js';
import { JsonRpcError } from '../mcp/json-rpc-error.js';
import type { RequestContext } from './request-context.js';
import { RequestLog } from './request-log.js';

type Level = 'error' | 'warn' | 'debug';
const LEVELS: readonly Level[] = ['error', 'warn', 'debug'];

let entries: [level: Level, entry: Record<string, unknown>][];
beforeEach(() => {
  entries = [];
  for (const level of LEVELS)
    jest
      .spyOn(Logger.prototype, level)
      .mockImplementation((entry: unknown) => void entries.push([level, entry as Record<string, unknown>]));
});
afterEach(() => void jest.restoreAllMocks());

const fail = (error: unknown): void => {
  const session = { profile: { clientLabel: 'agent 1.0' } };
  const context = { method: 'tools/call', paramsText: '{"secret":1}', session } as RequestContext;
  new RequestLog().logFailure(context, JsonRpcError.from(error));
};

describe('RequestLog', () => {
  const kinds = Object.keys(ERROR_CODES) as ErrorKind[];

  it.each(kinds)('logs a failure of the kind %s in one line, at its level', (kind) => {
    fail(new GatewayError(kind, 'text'));
    const warned = ['server-unavailable', 'timeout', 'overloaded', 'limit-exceeded'];
    const expected: Level = kind === 'internal' ? 'error' : warned.includes(kind) ? 'warn' : 'debug';
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject([expected, { method: 'tools/call', kind, reason: 'text' }]);
  });

  it('names the client', () => {
    fail(new GatewayError('invalid-params', 'text'));
    expect(entries).toMatchObject([['debug', { client: 'agent 1.0' }]]);
  });

  it("logs the server's own error at debug level", () => {
    fail(new RemoteError(-1, 'no', '{}'));
    expect(entries).toMatchObject([['debug', { kind: 'remote', code: -1, reason: 'no' }]]);
  });

  it('logs an internal error with its cause', () => {
    fail(new TypeError('x is undefined'));
    expect(entries[0]?.[0]).toBe('error');
    expect(entries[0]?.[1]['cause']).toContain('TypeError: x is undefined');
  });

  it('logs a thrown value that is not an Error', () => {
    fail('text');
    expect(entries).toMatchObject([['error', { cause: undefined }]]);
  });

  it('logs no payload', () => {
    fail(new GatewayError('timeout', 'TIMEOUT', undefined, { cause: new Error('slow') }));
    expect(JSON.stringify(entries)).not.toContain('secret');
  });
});
