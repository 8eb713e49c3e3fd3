import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { onCleanup } from '../../../test/kit/cleanup.js';
import { EdgeHarness } from '../../../test/kit/edge-harness.js';
import { recordLog } from '../../../test/kit/log-lines.js';
import { postModern, streamModern, type ModernOptions } from '../../../test/kit/modern-calls.js';
import { deferred, until, within } from '../../../test/kit/until.js';
import type { Limits } from '../../config/limits.js';
import { GatewayError } from '../../core/errors.js';
import { JsonText, SharedJson } from '../../lib/json-text/json-text.js';
import { plainFrame } from '../../mcp/event-frame.js';
import type { ModernRequest } from './modern-request.js';

let edge: EdgeHarness;

async function serve(limits: Partial<Limits> = {}): Promise<void> {
  edge = new EdgeHarness(limits);
  edge.modernRequests.onModuleInit();
  await edge.listen();
  const started = edge;
  onCleanup(() => started.close());
}

beforeEach(async () => {
  Logger.overrideLogger(false);
  await serve();
});
afterEach(() => void jest.restoreAllMocks());

type Handle = (request: ModernRequest) => unknown;

/** Handles `tools/list`, which needs no params. */
const handle = (handler: Handle): unknown =>
  edge.handlers.set('tools/list', (_params, context) => handler(context as unknown as ModernRequest));

const CANCELLED = Symbol('cancelled');

/** A request that runs until the spec ends it, or it is cancelled. */
function slow() {
  const started = deferred<ModernRequest>();
  const end = deferred<unknown>();
  handle((request) => {
    started.resolve(request);
    request.signal.addEventListener('abort', () => end.resolve(CANCELLED));
    return end.promise.then((result) => {
      if (result === CANCELLED) throw new GatewayError('cancelled', 'cancelled');
      return result;
    });
  });
  return { started: within('the request to arrive', started.promise), end };
}

const call = (options?: ModernOptions) => postModern(edge.url, 'tools/list', {}, options);
const event = (message: string): string => `event: message\ndata: ${message}\n\n`;
const progress = (n: number): JsonText => new JsonText(`{"progressToken":"t","progress":${n}.0}`);
/** The levels of the log messages that precede the result. */
async function loggedAt(logLevel: string | undefined): Promise<unknown[]> {
  const { text } = await call({ envelope: { logLevel } });
  return [...text.matchAll(/"level":"(\w+)"/g)].map(([, level]) => level);
}
const logAt = (level: string): JsonText => JsonText.of({ level, data: 'x' });

describe('ModernRequest', () => {
  it('describes the client by its envelope', async () => {
    const { started, end } = slow();
    const envelope = { clientCapabilities: { sampling: {} }, logLevel: 'warning' };
    const answer = call({ envelope });
    const request = await started;
    const { capabilities, logLevel, clientLabel, principal } = request;
    expect({ capabilities, logLevel, clientLabel, principal: principal.id }).toEqual({
      capabilities: { sampling: {} },
      logLevel: 'warning',
      clientLabel: 'raw 2',
      principal: 'anonymous',
    });
    expect(request.key).toBe(request.quotaKey);
    end.resolve({});
    await answer;
  });

  it('sends progress before the result, on a stream without event ids', async () => {
    handle((request) => {
      request.notify('notifications/progress', progress(1));
      request.notify('notifications/progress', progress(2));
      return {};
    });
    const { headers, text } = await call();
    expect(headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
    const notice = (n: number): string =>
      event(`{"jsonrpc":"2.0","method":"notifications/progress","params":${progress(n).text}}`);
    const result =
      '{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private"}}';
    expect(text).toBe(notice(1) + notice(2) + event(result));
  });

  it.each<[string, SharedJson]>([
    ['short', new SharedJson('{"tools":[]}')],
    ['long', new SharedJson(`{"tools":[\n${'"ö",\n'.repeat(100_000)}1]}`)],
  ])('sends a %s shared result on its stream, on one line', async (_what, result) => {
    handle((request) => {
      request.notify('notifications/progress', progress(1));
      return result;
    });
    const events = await streamModern(edge.url, 'tools/list');
    const message = await events.message('the result', ({ id }) => id === 1);
    expect(message.result).toEqual({
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      ...(JSON.parse(result.text) as object),
    });
    await events.untilEnded();
  });

  it('sends log messages at or above its level, and none without a level', async () => {
    handle((request) => {
      for (const level of ['debug', 'info', 'warning', 'error'])
        request.notify('notifications/message', logAt(level));
      return {};
    });
    expect(await loggedAt('warning')).toEqual(['warning', 'error']);
    expect(await loggedAt('debug')).toEqual(['debug', 'info', 'warning', 'error']);
    expect(await loggedAt(undefined)).toEqual([]);
  });

  it('sends no other notifications', async () => {
    handle((request) => {
      for (const method of ['notifications/elicitation/complete', 'notifications/tools/list_changed'])
        request.notify(method, undefined);
      return {};
    });
    expect((await call()).headers['content-type']).toBe('application/json');
  });

  it('is cancelled when the client closes the response', async () => {
    const { started } = slow();
    const events = streamModern(edge.url, 'tools/list');
    const request = await started;
    request.notify('notifications/progress', progress(1));
    (await events).disconnect();
    await until('the request is cancelled', () => request.signal.aborted);
    await until('nothing runs', () => edge.modernRequests.size === 0);
    expect(edge.receiver.inFlight.size).toBe(0);
  });

  it('is not cancelled after its response', async () => {
    const requests: ModernRequest[] = [];
    handle((request) => {
      requests.push(request);
      return {};
    });
    await call();
    await call();
    expect(requests.map(({ signal }) => signal.aborted)).toEqual([false, false]);
  });

  it('answers an error with the status of its code, or on its stream', async () => {
    handle((request) => {
      if (request.logLevel) request.notify('notifications/message', logAt('error'));
      throw new GatewayError('missing-capability', 'needs sampling', {
        requiredCapabilities: { sampling: {} },
      });
    });
    const alone = await call();
    const streamed = await call({ envelope: { logLevel: 'error' } });
    expect([alone.status, streamed.status]).toEqual([400, 200]);
    for (const { text } of [alone, streamed]) expect(text).toContain('"code":-32021');
  });

  it('writes a comment at least every 15 seconds', async () => {
    const { started, end } = slow();
    const now = performance.now.bind(performance);
    let passed = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now() + passed);
    const answer = call();
    await started;
    const interval = async (ms: number): Promise<void> => {
      passed += ms;
      (edge.sessions as unknown as { runInterval(): void }).runInterval();
      await new Promise((resolve) => setImmediate(resolve));
    };
    // The intervals of the gateway are 5 seconds.
    for (let count = 0; count < 6; count++) await interval(5000);
    end.resolve({});
    const { headers, text } = await answer;
    expect(headers['content-type']).toBe('text/event-stream');
    expect(text.match(/: keep-alive\n\n/g)).toHaveLength(3);
    expect(text.match(/^data:/gm)).toHaveLength(1);
  });

  it('is answered with JSON if nothing precedes a quick result', async () => {
    const { started, end } = slow();
    const answer = call();
    await started;
    (edge.sessions as unknown as { runInterval(): void }).runInterval();
    end.resolve({});
    expect((await answer).headers['content-type']).toBe('application/json');
  });

  it('drops notifications, not the result, while its client does not read', async () => {
    await serve({ streamQueue: 3 });
    const { started, end } = slow();
    const events = streamModern(edge.url, 'tools/list');
    const request = await started;
    const long = JsonText.of({ progressToken: 't', progress: 1, message: 'x'.repeat(100_000) });
    // More than the kernel buffers, in one turn: the client reads nothing meanwhile.
    for (let count = 0; count < 200; count++) request.notify('notifications/progress', long);
    end.resolve({});
    const stream = await events;
    await stream.message('the result', ({ id }) => id === 1);
    expect(stream.count('notifications/progress')).toBeLessThan(200);
    expect(await edge.metrics.text()).toMatch(
      /mcp_notifications_total\{kind="progress",outcome="dropped"\} [1-9]/,
    );
  });

  it('hands its response over as an event stream, and is answered then', async () => {
    await serve({ requestsPerPrincipal: 1 });
    const { started, end } = slow();
    const events = streamModern(edge.url, 'tools/list');
    const request = await started;
    const response = request.takeStream();
    const opened = await events;
    end.resolve({ n: 1 });
    await until('the handler has ended', () => edge.modernRequests.size === 0);
    // Its place in the limit is free.
    handle(() => ({}));
    expect((await call()).text).toContain('"result"');
    await until('nothing runs', () => edge.modernRequests.size === 0);
    expect([edge.quotas.count(`requests ${request.quotaKey}`), edge.receiver.inFlight.size]).toEqual([0, 0]);
    response.write(plainFrame('{"method":"first"}').bytes);
    await opened.message('the event', ({ method }) => method === 'first');
    opened.disconnect();
    await until('the stream is closed', () => response.destroyed);
    expect([request.signal.aborted, opened.messages.length]).toEqual([false, 1]);
  });

  it('hands over a response that has a comment already', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const { started, end } = slow();
    const events = streamModern(edge.url, 'tools/list');
    const request = await started;
    jest.advanceTimersByTime(20_000);
    request.keepAlive(10_000);
    const response = request.takeStream();
    jest.useRealTimers();
    response.end(plainFrame('{"method":"first"}').bytes);
    end.resolve({});
    const opened = await events;
    await opened.untilEnded();
    expect(opened.messages).toEqual([{ method: 'first' }]);
  });

  it('is described in the log of the drain, and cancelled at its end', async () => {
    const { started } = slow();
    void call().catch(() => {});
    const request = await started;
    const described = [...edge.modernRequests.all].map((running) => running.describe(performance.now()));
    expect(described).toEqual([
      { method: 'tools/list', principal: 'anonymous', client: 'raw 2', runningMs: expect.any(Number) },
    ]);
    edge.modernRequests.abortAll();
    expect(request.signal.aborted).toBe(true);
  });

  it('is logged like a request of a session, without a session', async () => {
    const lines = recordLog();
    handle(() => {
      throw new GatewayError('server-unavailable', 'down', { server: 'db' });
    });
    await call();
    const entry = await until('the failure is logged', () =>
      lines.map((line) => JSON.parse(line) as object).find((line) => 'kind' in line),
    );
    expect(entry).toMatchObject({
      method: 'tools/list',
      server: 'db',
      client: 'raw 2',
      principal: 'anonymous',
    });
    expect(entry).not.toHaveProperty('session');
    expect(await edge.metrics.text()).toContain(
      'mcp_request_duration_seconds_count{method="tools/list",outcome="error"} 1',
    );
  });

  it('is refused while its principal does not read responses', async () => {
    handle((request) => {
      edge.sessions.unreadByPrincipal.add(request.quotaKey, edge.limits.unreadBytesPerPrincipal);
      return {};
    });
    const { text } = await call();
    expect(text).toContain('are unread');
    expect((await call()).text).toContain('"code":-31029');
  });
});
