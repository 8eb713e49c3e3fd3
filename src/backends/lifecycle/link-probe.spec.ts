import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeLink, outcomeOf, settled } from '../../../test/kit/fake-link.js';
import { GatewayError, RemoteError } from '../../core/errors.js';
import { LinkProbe } from './link-probe.js';
import { TransportError } from '../link/transport.js';

const BAD_REQUEST = new TransportError('refused', 'no such session', { httpStatus: 400 });

describe('the probe of a link', () => {
  let link: FakeLink;
  let forgotten: TransportError[];
  let probe: LinkProbe;

  beforeEach(() => {
    link = new FakeLink();
    forgotten = [];
    probe = new LinkProbe(
      (request) => link.request(request),
      (reason) => forgotten.push(reason),
    );
  });

  it('takes any answer for a sign of life, also that the method is not known', async () => {
    const outcomes = [outcomeOf(probe.ping().then(() => 'there'))];
    link.asked('ping').answer({});
    await settled();
    outcomes.push(outcomeOf(probe.ping().then(() => 'there')));
    link.asked('ping').fail(new RemoteError(-32601, 'ping?', '{}'));
    await settled();
    expect(outcomes).toEqual([{ value: 'there' }, { value: 'there' }]);
  });

  it('waits as long as it is told, and fails when no answer comes', async () => {
    const outcome = outcomeOf(probe.ping(77));
    const late = new GatewayError('timeout', 'late');
    expect(link.asked('ping').timeoutMs).toBe(77);
    link.asked('ping').fail(late);
    await settled();
    expect(outcome.error).toBe(late);
  });

  it('finds a session lost when even a ping is a bad request', async () => {
    probe.checkSession();
    link.asked('ping').fail(BAD_REQUEST);
    await settled();
    expect(forgotten).toMatchObject([{ fault: 'session-lost', message: 'no such session' }]);
  });

  it.each<[string, Error | undefined]>([
    ['is answered', undefined],
    ['is refused', new RemoteError(-32601, 'ping?', '{}')],
    ['is not answered', new GatewayError('timeout', 'late')],
    ['fails for another reason', new TransportError('refused', 'go away', { httpStatus: 403 })],
  ])('finds no session lost when the ping %s', async (_what, error) => {
    probe.checkSession();
    if (error) link.asked('ping').fail(error);
    else link.asked('ping').answer({});
    await settled();
    expect(forgotten).toEqual([]);
  });

  it('asks once at a time, and again when it has an answer', async () => {
    probe.checkSession();
    probe.checkSession();
    expect(link.count('ping')).toBe(1);
    link.asked('ping').answer({});
    await settled();
    probe.checkSession();
    expect(link.count('ping')).toBe(2);
  });
});
