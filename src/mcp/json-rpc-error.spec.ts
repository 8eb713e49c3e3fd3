import { ForbiddenException } from '@nestjs/common';
import { RpcException } from '@nestjs/microservices';
import { describe, expect, it } from '@jest/globals';
import {
  codesFor,
  ERROR_CODES,
  GatewayError,
  limitExceeded,
  nothingToSubscribe,
  RemoteError,
  resourceNotFound,
  serverUnavailable,
  type ErrorKind,
} from '../core/errors.js';
import { JsonRpcError } from './json-rpc-error.js';
import { revisionOf, SUPPORTED_VERSIONS } from './revisions/revision.js';

const SECRET = 'password=hunter2';

const remote = (code: number): RemoteError =>
  new RemoteError(code, 'no', `{"code":${code},"message":"no","data":{"uri":"x:1"}}`);

/** Code and data of the kinds in the contract, for the revisions of 2025 and of 2026. */
const TABLE: readonly [GatewayError, number, number, object | undefined][] = [
  [resourceNotFound('x:1'), -32002, -32602, { uri: 'x:1' }],
  [nothingToSubscribe('x:1'), -32602, -32602, { uri: 'x:1' }],
  [new GatewayError('tool-not-found', 'Unknown tool: t'), -32602, -32602, undefined],
  [new GatewayError('prompt-not-found', 'Unknown prompt: p'), -32602, -32602, undefined],
  [new GatewayError('invalid-params', 'Invalid cursor'), -32602, -32602, undefined],
  [new GatewayError('method-not-found', 'Method not found: m'), -32601, -32601, undefined],
  [new GatewayError('project-not-found', 'Unknown project: p'), -32602, -32602, undefined],
  [limitExceeded('too many', 3), -31029, -31029, { code: 'LimitExceeded', limit: 3 }],
  [
    new GatewayError('overloaded', 'Overloaded', { code: 'Overloaded' }),
    -31029,
    -31029,
    { code: 'Overloaded' },
  ],
  [
    serverUnavailable('s', 'gone', { reason: 'crashed', retryAfterMs: 1.5 }),
    -31003,
    -31003,
    { code: 'SERVER_UNAVAILABLE', server: 's', reason: 'crashed', retryAfterMs: 2 },
  ],
  [new GatewayError('subscription-failed', 'refused'), -31006, -31006, undefined],
  [new GatewayError('timeout', 'Late'), -31008, -31008, undefined],
  [new GatewayError('cancelled', 'cancelled'), -31099, -31099, undefined],
  [new GatewayError('internal', 'Internal error'), -32603, -32603, undefined],
];

describe('the code of an error', () => {
  it.each(TABLE)('%s is %i in 2025 and %i in 2026, with the same message', (error, in2025, in2026, data) => {
    for (const [era, code] of [
      ['2025', in2025],
      ['2026', in2026],
    ] as const)
      expect(JSON.parse(JsonRpcError.from(error, era).text)).toEqual({
        code,
        message: error.message,
        ...(data && { data }),
      });
  });

  it('is that of 2025 in every supported revision', () => {
    const codes = SUPPORTED_VERSIONS.map(
      (version) => revisionOf(version)!.errorOf(new GatewayError('resource-not-found', 'x')).code,
    );
    expect(codes).toEqual(Array(5).fill(-32002));
  });

  it('is the same in 2026 unless the table says otherwise', () => {
    const kinds = Object.keys(ERROR_CODES) as ErrorKind[];
    const differ = kinds.filter((kind) => codesFor(kind, '2025').code !== codesFor(kind, '2026').code);
    expect(differ).toEqual([
      'resource-not-found',
      'bad-request',
      'session-required',
      'session-not-found',
      'unauthorized',
      'insufficient-scope',
      'forbidden',
      'method-not-allowed',
      'not-acceptable',
      'payload-too-large',
      'unsupported-media-type',
    ]);
  });

  it('is none in 2026 that the revision asks not to use', () => {
    const kinds = Object.keys(ERROR_CODES) as ErrorKind[];
    const codes = kinds.map((kind) => codesFor(kind, '2026').code);
    expect(codes.filter((code) => code <= -32000 && code >= -32019)).toEqual([]);
  });
});

describe('JsonRpcError.from', () => {
  it.each(Object.keys(ERROR_CODES) as ErrorKind[])(
    'gives %s its code and status, and keeps the message',
    (kind) => {
      const cause = new GatewayError(kind, 'Message for the client', { code: 'Word' });
      const error = JsonRpcError.from(cause);
      expect(error).toMatchObject({ kind, cause, ...codesFor(kind, '2025') });
      expect(JSON.parse(error.text)).toEqual({
        code: ERROR_CODES[kind].code,
        message: 'Message for the client',
        data: { code: 'Word' },
      });
    },
  );

  it('omits absent data', () => {
    const { text } = JsonRpcError.from(new GatewayError('timeout', 'Late'));
    expect(text).toBe('{"code":-31008,"message":"Late"}');
  });

  it('names an unavailable server', () => {
    const error = JsonRpcError.from(serverUnavailable('github', 'it exited with code 1'));
    expect(JSON.parse(error.text)).toEqual({
      code: -31003,
      message: 'SERVER_UNAVAILABLE: server github is not available: it exited with code 1',
      data: { code: 'SERVER_UNAVAILABLE', server: 'github', reason: 'unreachable', retryAfterMs: 1000 },
    });
  });

  it("passes a server's own error unchanged", () => {
    const text = '{ "code" : -32042, "message" : "No", "data" : 1.0, "unknown" : [] }';
    expect(JsonRpcError.from(new RemoteError(-32042, 'No', text))).toMatchObject({
      kind: 'remote',
      http: 200,
      code: -32042,
      text,
    });
  });

  it('returns a JsonRpcError unchanged', () => {
    const error = JsonRpcError.from(new GatewayError('timeout', 'Late'));
    expect(JsonRpcError.from(error)).toBe(error);
  });

  it('maps a refusal of a guard to forbidden, without details', () => {
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
  ])('answers %s without details and keeps it as cause', (_what, thrown) => {
    const error = JsonRpcError.from(thrown);
    expect(error).toMatchObject({ kind: 'internal', http: 200, code: -32603 });
    expect(error.text).toBe('{"code":-32603,"message":"Internal error"}');
    expect((error.cause as Error).cause).toBe(thrown);
  });
});

describe('an error of a server', () => {
  it.each([
    [-32002, -32602, 200],
    [-32021, -32021, 400],
    [-32020, -32020, 200],
    [-32022, -32022, 200],
    [-32601, -32601, 200],
    [-32000, -32000, 200],
  ])('%i is %i in 2026, with HTTP %i', (code, in2026, http) => {
    const { text } = remote(code);
    expect(JsonRpcError.from(remote(code), '2026')).toMatchObject({
      kind: 'remote',
      http,
      code: in2026,
      text: text.replace(String(code), String(in2026)),
    });
    expect(JsonRpcError.from(remote(code), '2025')).toMatchObject({ http: 200, code, text });
  });
});
