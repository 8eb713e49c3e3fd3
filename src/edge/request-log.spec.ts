import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Registry } from 'prom-client';
import { recordLog } from '../../test/kit/log-lines.js';
import { GatehouseConfig } from '../config/gatehouse-config.js';
import { LiveConfig } from '../config/live-config.js';
import { LogSettings } from '../config/log-settings.js';
import { ERROR_CODES, GatewayError, RemoteError, serverUnavailable, type ErrorKind } from '../core/errors.js';
import { JsonText, membersOf } from '../lib/json-text/json-text.js';
import { JsonRpcError } from '../mcp/json-rpc-error.js';
import { Metrics } from '../metrics/metrics.js';
import type { RequestContext } from './request-context.js';
import { RequestLog } from './request-log.js';

const LONG = 'x'.repeat(5000);
const SESSION = { id: '0123456789abcdef-and-more' };

const contextOf = (more: object = {}): RequestContext =>
  ({
    method: 'tools/call',
    requestId: 7,
    paramsText: '{"name":"fs__read","arguments":{"secret":1}}',
    principal: { id: 'key:ci' },
    project: 'payments',
    session: SESSION,
    clientLabel: 'agent 1.0',
    ...more,
  }) as unknown as RequestContext;

let lines: string[];
const entries = (): Record<string, unknown>[] =>
  lines.map((line) => JSON.parse(line) as Record<string, unknown>);
beforeEach(() => {
  lines = recordLog();
});
afterEach(() => void jest.restoreAllMocks());

const fail = (error: unknown, more?: object, log = new RequestLog()): void =>
  log.logFailure(contextOf(more), JsonRpcError.from(error), 0.01234);

describe('RequestLog of a failed request', () => {
  const kinds = Object.keys(ERROR_CODES) as ErrorKind[];

  it.each(kinds)('writes one line for the kind %s, at its level', (kind) => {
    fail(new GatewayError(kind, 'text'));
    const warned = ['server-unavailable', 'timeout', 'overloaded', 'limit-exceeded'];
    const level = kind === 'internal' ? 'error' : warned.includes(kind) ? 'warn' : 'info';
    expect(entries()).toMatchObject([{ level, method: 'tools/call', kind, reason: 'text' }]);
  });

  it('names tool, server, request, session, principal, project, client, code and duration', () => {
    fail(new RemoteError(-1, 'no', '{}'), { server: 'fs' });
    expect(entries()).toMatchObject([
      {
        level: 'info',
        tool: 'fs__read',
        server: 'fs',
        requestId: 7,
        session: '0123456789abcdef',
        principal: 'key:ci',
        project: 'payments',
        client: 'agent 1.0',
        kind: 'remote',
        code: -1,
        reason: 'no',
        durationMs: 12.3,
      },
    ]);
  });

  it.each<[string, string | undefined, object]>([
    ['resources/read', '{"uri":"x:1"}', { uri: 'x:1' }],
    ['resources/subscribe', '{"uri":"x:1","uri":"x:2"}', { uri: 'x:2' }],
    ['prompts/get', '{"name":"greet"}', { prompt: 'greet' }],
    ['prompts/get', '{"name":5}', {}],
    ['prompts/get', '[]', {}],
    ['tools/call', undefined, {}],
    ['tools/list', '{"name":"x"}', {}],
  ])('names the subject of %s with %s', (method, paramsText, expected) => {
    fail(new GatewayError('invalid-params', 'text'), { method, paramsText });
    const { tool, prompt, uri } = entries()[0]!;
    expect({ tool, prompt, uri }).toEqual(expected);
  });

  it('reads the subject of long params by the positions of their members', () => {
    const paramsText = `{"arguments":"${'x'.repeat(1000)}","name":"fs__read"}`;
    fail(new GatewayError('timeout', 'text'), { paramsText, paramsMembers: membersOf(paramsText) });
    expect(entries()).toMatchObject([{ tool: 'fs__read' }]);
  });

  it('names the server that the error is about', () => {
    fail(serverUnavailable('fs', 'it is starting'));
    expect(entries()).toMatchObject([{ server: 'fs', code: -31003 }]);
  });

  it.each([
    ['name', { paramsText: `{"name":"${LONG}"}` }],
    ['request id', { requestId: LONG }],
    ['method', { method: LONG }],
    ['project', { project: LONG }],
  ])('shortens a long %s of the client', (_what, more) => {
    fail(new GatewayError('invalid-params', 'text'), more);
    expect(lines[0]!.length).toBeLessThan(1000);
  });

  it('shortens the message of a server and the stack of a cause', () => {
    const long = 'x'.repeat(1_000_000);
    fail(new RemoteError(-1, long, '{}'));
    fail(new GatewayError('timeout', 'text', undefined, { cause: new Error(long) }));
    expect(entries()[0]!['reason']).toBe(`${'x'.repeat(500)}…`);
    for (const line of lines) expect(line.length).toBeLessThan(6000);
  });

  it('writes the cause of an internal error', () => {
    fail(new TypeError('x is undefined'));
    expect(entries()).toMatchObject([
      { level: 'error', cause: expect.stringContaining('TypeError: x is undefined') },
    ]);
  });

  it('accepts a thrown value that is not an Error', () => {
    fail('text');
    expect(entries()).toMatchObject([{ level: 'error' }]);
    expect(entries()[0]).not.toHaveProperty('cause');
  });

  it('writes no payload', () => {
    fail(new GatewayError('timeout', 'TIMEOUT', undefined, { cause: new Error('slow') }));
    expect(lines.join('')).not.toContain('secret');
  });

  it('writes at most 50 lines a second, and counts the others', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(1000);
    const metrics = new Metrics(new Registry());
    const log = new RequestLog(metrics);
    for (let n = 0; n < 60; n++) fail(new GatewayError('invalid-params', 'text'), {}, log);
    expect(lines).toHaveLength(50);
    expect(await metrics.text()).toContain(
      'gatehouse_log_lines_suppressed_total{kind="failed-request"} 10\n',
    );
    now.mockReturnValue(2000);
    fail(new GatewayError('invalid-params', 'text'), {}, log);
    expect(entries().at(-1)).toMatchObject({ suppressed: 10 });
  });
});

const configOf = (log: Partial<LogSettings>): GatehouseConfig =>
  Object.assign(new GatehouseConfig(), { log: Object.assign(new LogSettings(), log) });
const open = (log: Partial<LogSettings>): { log: RequestLog; live: LiveConfig } => {
  const live = new LiveConfig(configOf(log));
  return { log: new RequestLog(new Metrics(new Registry()), live), live };
};
const succeed = (log: RequestLog, times: number, result: unknown = new JsonText('{}')): void => {
  for (let n = 0; n < times; n++) log.logCall(contextOf({ server: 'fs' }), result, 0.002);
};

describe('RequestLog of a request that succeeds', () => {
  it('writes nothing by default', () => {
    expect(open({}).log.logsCalls).toBe(false);
    expect(new RequestLog().logsCalls).toBe(false);
  });

  it('writes one line each with all', () => {
    const { log } = open({ calls: 'all' });
    expect(log.logsCalls).toBe(true);
    succeed(log, 2);
    expect(entries()).toMatchObject(
      Array.from({ length: 2 }, () => ({
        message: 'request',
        level: 'info',
        tool: 'fs__read',
        server: 'fs',
        outcome: 'ok',
        durationMs: 2,
      })),
    );
  });

  it('writes one line for so many requests with sampled', () => {
    const { log } = open({ calls: 'sampled', sample: 3 });
    succeed(log, 7);
    expect(lines).toHaveLength(2);
  });

  it('names the error of a tool as outcome', () => {
    succeed(open({ calls: 'all' }).log, 1, new JsonText('{"isError":true,"content":[]}'));
    expect(entries()).toMatchObject([{ outcome: 'tool_error' }]);
  });

  it('follows a reload', () => {
    const { log, live } = open({});
    live.replace(configOf({ calls: 'sampled' }));
    expect(log.logsCalls).toBe(true);
    live.replace(configOf({ calls: 'off' }));
    expect(log.logsCalls).toBe(false);
  });
});
