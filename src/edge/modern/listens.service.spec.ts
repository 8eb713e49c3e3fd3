import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Registry } from 'prom-client';
import { FakeResponse } from '../../../test/kit/fake-response.js';
import { createListens, listenRequest } from '../../../test/kit/listens.js';
import { flushPromises } from '../../../test/kit/promises.js';
import { Scrape } from '../../../test/kit/scrape.js';
import { Metrics } from '../../metrics/metrics.js';
import { NotificationRecipients } from '../notification-recipients.js';
import type { Listen } from './listen.js';
import type { Listens } from './listens.service.js';

describe('Listens', () => {
  let metrics: Metrics;
  let recipients: NotificationRecipients;
  let listens: Listens;

  function start(limits: { listens?: number; streamsPerPrincipal?: number } = {}): void {
    metrics = new Metrics(new Registry());
    recipients = new NotificationRecipients();
    listens = createListens(recipients, { limits, metrics });
    listens.onModuleInit();
  }

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    start();
  });
  afterEach(() => {
    listens.onApplicationShutdown();
    jest.useRealTimers();
  });

  function open(listen: Listen = listens.create(listenRequest(), [])): FakeResponse {
    const client = new FakeResponse();
    listen.open({ takeStream: () => client.response }, {});
    return client;
  }

  const value = async (name: string, labels?: Record<string, string>): Promise<number | undefined> =>
    new Scrape(await metrics.text()).value(name, labels);

  it('are recipients of notifications until they are closed', async () => {
    const listen = listens.create(listenRequest(), []);
    expect([...listens.all()]).toEqual([listen]);
    expect([...recipients.matching(() => true)]).toEqual([listen]);
    expect(await value('mcp_listens_active')).toBe(1);
    await open(listen).disconnect();
    expect([listens.size, [...recipients.matching(() => true)]]).toEqual([0, []]);
    expect(await value('mcp_listens_active')).toBe(0);
  });

  it.each([
    ['listens', { listens: 2 }, '2 listen streams are open'],
    ['streamsPerPrincipal', { streamsPerPrincipal: 2 }, 'this principal already has 2 event streams'],
  ])('are refused beyond limits.%s, until one is closed', async (limit, limits, message) => {
    start(limits);
    const [first] = [1, 2].map(() => listens.create(listenRequest(), []));
    const refused = { kind: 'limit-exceeded', message: `LimitExceeded: ${message}`, data: { limit: 2 } };
    expect(() => listens.create(listenRequest(), [])).toThrow(
      expect.objectContaining({ kind: refused.kind }),
    );
    expect(() => listens.create(listenRequest(), [])).toThrow(message);
    expect(await value('gatehouse_limit_refusals_total', { limit })).toBe(2);
    expect([...recipients.matching(() => true)]).toHaveLength(2);
    first!.finish();
    first!.finish();
    listens.create(listenRequest(), []);
    expect(() => listens.create(listenRequest(), [])).toThrow(message);
  });

  it('of one principal do not count for another', () => {
    start({ streamsPerPrincipal: 1 });
    listens.create(listenRequest({ quotaKey: 'a' }), []);
    expect(() => listens.create(listenRequest({ quotaKey: 'b' }), [])).not.toThrow();
  });

  it('get a comment at least every 15 seconds, and are never ended by a timer', async () => {
    const clients = Array.from({ length: 200 }, () => open());
    const comments = (): number[] => clients.map(({ written }) => written.split(': keep-alive').length - 1);
    for (let minute = 1; minute <= 4; minute++) {
      jest.advanceTimersByTime(15_000);
      await flushPromises();
      expect(Math.min(...comments())).toBeGreaterThanOrEqual(minute);
    }
    jest.advanceTimersByTime(86_400_000);
    await flushPromises();
    expect(listens.size).toBe(200);
  });

  it('end with their results at the end of the process, also those that are opened then', async () => {
    const clients = [open(), open()];
    const pending = listens.create(listenRequest(), []);
    listens.endAll();
    clients.push(open(pending), open());
    await flushPromises();
    for (const { messages, response } of clients) {
      expect(messages.map((message) => 'result' in message)).toEqual([false, true]);
      expect(response.writableEnded).toBe(true);
    }
  });

  it('are announced when they are created', () => {
    const opened: Listen[] = [];
    listens.onOpen((listen) => opened.push(listen));
    const listen = listens.create(listenRequest(), []);
    expect(opened).toEqual([listen]);
  });
});
