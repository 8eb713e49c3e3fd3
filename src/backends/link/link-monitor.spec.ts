import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeLink } from '../../../test/kit/fake-link.js';
import { outcomeOf, flushPromises } from '../../../test/kit/promises.js';
import { GatewayError, RemoteError } from '../../core/errors.js';
import { LinkMonitor } from './link-monitor.js';
import { TransportError } from './transport.js';

const BAD_REQUEST = new TransportError('refused', 'no such session', { httpStatus: 400 });

describe('LinkMonitor', () => {
  let link: FakeLink;
  let failures: Error[];
  let monitor: LinkMonitor;

  beforeEach(() => {
    link = new FakeLink();
    failures = [];
    monitor = new LinkMonitor((request) => link.request(request), {
      linkFailed: (reason) => failures.push(reason),
      streamFailed: () => {},
    });
    monitor.start();
  });

  it('resolves a ping with any answer, also with an unknown method error', async () => {
    const outcomes = [outcomeOf(monitor.ping().then(() => 'responded'))];
    link.asked('ping').answer({});
    await flushPromises();
    outcomes.push(outcomeOf(monitor.ping().then(() => 'responded')));
    link.asked('ping').fail(new RemoteError(-32601, 'ping?', '{}'));
    await flushPromises();
    expect(outcomes).toEqual([{ value: 'responded' }, { value: 'responded' }]);
  });

  it('rejects a ping when the server does not answer within the timeout', async () => {
    const outcome = outcomeOf(monitor.ping(77));
    const late = new GatewayError('timeout', 'late');
    expect(link.asked('ping').timeoutMs).toBe(77);
    link.asked('ping').fail(late);
    await flushPromises();
    expect(outcome.error).toBe(late);
  });

  it('probes with a ping, and every second time with a list of the server, within 5 s', async () => {
    const capabilities = { prompts: {}, resources: {} };
    for (const [method, timeoutMs] of [
      ['ping', 60_000],
      ['resources/list', 60_000],
      ['ping', 300],
    ] as const) {
      const probed = outcomeOf(monitor.probe(timeoutMs, capabilities).then(() => 'done'));
      expect(link.asked(method).timeoutMs).toBe(Math.min(timeoutMs, 5000));
      link.asked(method).fail(new GatewayError('timeout', 'late'));
      await flushPromises();
      expect(probed.value).toBe('done');
    }
  });

  it('probes with pings alone when the server has no lists', async () => {
    for (let n = 0; n < 2; n++) {
      void monitor.probe(1000, { logging: {} });
      link.asked('ping').answer({});
      await flushPromises();
    }
    expect(link.count('ping')).toBe(2);
  });

  it.each([
    ['counts an HTTP error of the server as a message', 404, 1],
    ['does not count an HTTP error that a proxy may have sent', 502, 0],
  ])('%s', (_what, httpStatus, received) => {
    monitor.sendFailed(new TransportError('refused', 'no', { httpStatus }));
    expect(monitor.received).toBe(received);
  });

  it('reports an expired session when the server answers HTTP 400 to a ping', async () => {
    monitor.sendFailed(BAD_REQUEST);
    link.asked('ping').fail(BAD_REQUEST);
    await flushPromises();
    expect(failures).toMatchObject([{ fault: 'session-expired', message: 'no such session' }]);
  });

  it.each<[string, Error | undefined]>([
    ['is answered', undefined],
    ['is refused', new RemoteError(-32601, 'ping?', '{}')],
    ['is not answered', new GatewayError('timeout', 'late')],
    ['fails for another reason', new TransportError('refused', 'go away', { httpStatus: 403 })],
  ])('reports no expired session when the ping %s', async (_what, error) => {
    monitor.sendFailed(BAD_REQUEST);
    if (error) link.asked('ping').fail(error);
    else link.asked('ping').answer({});
    await flushPromises();
    expect(failures).toEqual([]);
  });

  it('sends one ping at a time, and the next after the answer', async () => {
    monitor.sendFailed(BAD_REQUEST);
    monitor.sendFailed(BAD_REQUEST);
    expect(link.count('ping')).toBe(1);
    link.asked('ping').answer({});
    await flushPromises();
    monitor.sendFailed(BAD_REQUEST);
    expect(link.count('ping')).toBe(2);
  });
});
