import { ForbiddenException } from '@nestjs/common';
import { RpcException } from '@nestjs/microservices';
import { describe, expect, it } from '@jest/globals';
import { ERROR_CODES, GatewayError, RemoteError, serverUnavailable, type ErrorKind } from '../core/errors.js';
import { JsonRpcError } from './json-rpc-error.js';

const SECRET = 'password=hunter2';

describe('JsonRpcError.from', () => {
  it.each(Object.keys(ERROR_CODES) as ErrorKind[])(
    'gives %s its code and status, and keeps the words',
    (kind) => {
      const cause = new GatewayError(kind, 'Words for the client', { code: 'Word' });
      const error = JsonRpcError.from(cause);
      expect(error).toMatchObject({ kind, cause, ...ERROR_CODES[kind] });
      expect(JSON.parse(error.text)).toEqual({
        code: ERROR_CODES[kind].code,
        message: 'Words for the client',
        data: { code: 'Word' },
      });
    },
  );

  it('leaves out data where there is none', () => {
    const { text } = JsonRpcError.from(new GatewayError('timeout', 'Late'));
    expect(text).toBe('{"code":-31008,"message":"Late"}');
  });

  it('says of a server that is down which one it is', () => {
    const error = JsonRpcError.from(serverUnavailable('github', 'it exited with code 1'));
    expect(JSON.parse(error.text)).toEqual({
      code: -31003,
      message: 'SERVER_UNAVAILABLE: server github is not available: it exited with code 1',
      data: { code: 'SERVER_UNAVAILABLE', server: 'github' },
    });
  });

  it("passes a server's own error through as it was written", () => {
    const text = '{ "code" : -32042, "message" : "No", "data" : 1.0, "unknown" : [] }';
    expect(JsonRpcError.from(new RemoteError(-32042, 'No', text))).toMatchObject({
      kind: 'remote',
      http: 200,
      code: -32042,
      text,
    });
  });

  it('leaves an error as it is that has its form already', () => {
    const error = JsonRpcError.from(new GatewayError('timeout', 'Late'));
    expect(JsonRpcError.from(error)).toBe(error);
  });

  it('tells a client that a guard turned away nothing but that', () => {
    const error = JsonRpcError.from(new RpcException(SECRET));
    expect(error).toMatchObject({ kind: 'forbidden', code: -32000 });
    expect(error.text).toBe('{"code":-32000,"message":"Not allowed"}');
  });

  it.each([
    ['an Error', new Error(SECRET)],
    ['an Error with a cause', new Error('x', { cause: new GatewayError('timeout', SECRET) })],
    ['an HttpException', new ForbiddenException(SECRET)],
    ['a string', SECRET],
    ['an object', { code: -32602, message: SECRET, kind: 'timeout' }],
    ['nothing', undefined],
    ['null', null],
  ])('tells a client nothing of %s, and keeps it for the log', (_what, thrown) => {
    const error = JsonRpcError.from(thrown);
    expect(error).toMatchObject({ kind: 'internal', http: 200, code: -32603 });
    expect(error.text).toBe('{"code":-32603,"message":"Internal error"}');
    expect((error.cause as Error).cause).toBe(thrown);
  });
});
