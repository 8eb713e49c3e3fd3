import { describe, expect, it } from '@jest/globals';
import { FakeClient, outcomeOf, refusalOf, settled } from '../../test/kit/fake-link.js';
import { linkTo, type Sent } from '../../test/kit/scripted-transport.js';
import { deferred } from '../../test/kit/until.js';
import type { JsonRpcLink } from './json-rpc-link.js';
import { TransportError, type TransportFault } from './transport.js';

const faultOf = (error: Error): TransportFault | undefined =>
  error instanceof TransportError ? error.fault : undefined;

/** The call, and what became of it. */
function call(link: JsonRpcLink, params = '{}') {
  const caller = new FakeClient('a').call();
  const outcome = outcomeOf(link.request({ method: 'tools/call', params, caller, timeoutMs: 1000 }));
  return { caller, outcome };
}

/** Calls cannot be delivered. */
const failing =
  (error: Error) =>
  async ({ method }: Sent): Promise<void> => {
    if (method === 'tools/call') throw error;
  };

describe('a delivery that fails', () => {
  it.each(['unreachable', 'session-lost'] as const)('retires the link when it is %s', async (fault) => {
    const error = new TransportError(fault, 'gone');
    const { link } = await linkTo({ onSend: failing(error) });
    const waiting = refusalOf(link.request({ method: 'prompts/get', timeoutMs: 1000 }));
    const { outcome } = call(link);
    await settled();
    expect(outcome.error).toBe(error);
    await expect(link.closed).resolves.toBe(error);
    expect(faultOf(await waiting)).toBe('broken');
    expect(faultOf(await refusalOf(link.request({ method: 'ping', timeoutMs: 1 })))).toBe('unreachable');
  });

  it.each(['refused', 'broken', 'too-large', 'busy'] as const)(
    'leaves the link as it is when it is %s',
    async (fault) => {
      const error = new TransportError(fault, 'no');
      const { transport, link } = await linkTo({ onSend: failing(error) });
      const { outcome, caller } = call(link);
      await settled();
      expect(outcome.error).toBe(error);
      expect(caller.abortListeners).toBe(0);
      const ping = link.request({ method: 'ping', timeoutMs: 1000 });
      transport.answer(transport.only('ping').id, {});
      await expect(ping).resolves.toMatchObject({ text: '{}' });
    },
  );

  it('is a broken exchange where the transport has no word of ours for it', async () => {
    const { link } = await linkTo({ onSend: failing(new Error('fetch failed')) });
    const { outcome } = call(link);
    await settled();
    expect(faultOf(outcome.error!)).toBe('broken');
    expect(outcome.error?.message).toBe('fetch failed');
  });

  it('retires the link also when nobody waits for an answer', async () => {
    const error = new TransportError('session-lost', 'gone');
    const { link } = await linkTo({
      onSend: ({ method }) => (method === 'notifications/x' ? Promise.reject(error) : undefined),
    });
    link.notify('notifications/x');
    await expect(link.closed).resolves.toBe(error);
  });
});

describe('a link that ends', () => {
  it('fails everything in flight, and nothing is left of it', async () => {
    const { transport, link } = await linkTo();
    const calls = [call(link), call(link)];
    transport.hangUp();
    await settled();
    for (const { outcome, caller } of calls) {
      expect(faultOf(outcome.error!)).toBe('broken');
      expect(caller.abortListeners).toBe(0);
    }
    await expect(link.closed).resolves.toMatchObject({ message: 'the connection closed' });
  });

  it("gives the transport's fault as the reason, but no report of anything else", async () => {
    const faulty = await linkTo();
    const fault = new TransportError('too-large', 'line over 8 bytes');
    faulty.transport.hangUp(fault);
    await expect(faulty.link.closed).resolves.toBe(fault);

    const chatty = await linkTo();
    chatty.transport.hangUp(new Error('a line is not JSON-RPC'));
    await expect(chatty.link.closed).resolves.toMatchObject({ message: 'the connection closed' });
  });

  it('can be closed any number of times, and waits for the transport each time', async () => {
    const transportClosed = deferred();
    const { link, transport } = await linkTo({ onClose: () => transportClosed.promise });
    let closed = false;
    void link.close().then(() => (closed = true));
    await settled();
    expect(closed).toBe(false);
    transportClosed.resolve();
    await settled();
    expect(closed).toBe(true);
    void link.close();
    expect(transport.closes).toBe(2);
  });
});
