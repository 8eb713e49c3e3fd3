import { describe, expect, it } from '@jest/globals';
import { FakeClient, outcomeOf, refusalOf, settled } from '../../../test/kit/fake-link.js';
import { linkTo, type Sent } from '../../../test/kit/scripted-transport.js';
import { deferred } from '../../../test/kit/until.js';
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
  it('retires the link, and fails what waits on it, when it is unreachable', async () => {
    const error = new TransportError('unreachable', 'gone');
    const { link } = await linkTo({ onSend: failing(error) });
    const waiting = refusalOf(link.request({ method: 'prompts/get', timeoutMs: 1000 }));
    const { outcome } = call(link);
    await settled();
    expect(outcome.error).toBe(error);
    await expect(link.closed).resolves.toBe(error);
    expect(faultOf(await waiting)).toBe('broken');
    expect(faultOf(await refusalOf(link.request({ method: 'ping', timeoutMs: 1 })))).toBe('unreachable');
  });

  it('retires the link, but lets the server answer what it has, when it is session-lost', async () => {
    const error = new TransportError('session-lost', 'who?');
    const { link, transport } = await linkTo({ onSend: failing(error) });
    const waiting = link.request({ method: 'prompts/get', timeoutMs: 1000 });
    const { outcome } = call(link);
    await settled();
    expect(outcome.error).toBe(error);
    await expect(link.closed).resolves.toBe(error);
    const closing = link.close();
    expect(transport.closes).toBe(0);
    transport.answer(transport.only('prompts/get').id, { messages: [] });
    await expect(waiting).resolves.toMatchObject({ text: '{"messages":[]}' });
    await closing;
    expect(transport.closes).toBe(1);
  });

  const badRequest = new TransportError('refused', 'HTTP 400', { httpStatus: 400 });

  it('asks by a ping whether a bad request means a lost session', async () => {
    const { link } = await linkTo({
      onSend: async ({ method }: Sent): Promise<void> => {
        if (method === 'tools/call' || method === 'ping') throw badRequest;
      },
    });
    call(link);
    await expect(link.closed).resolves.toMatchObject({ fault: 'session-lost' });
  });

  it('keeps the link when the ping after a bad request is answered', async () => {
    const { link, transport } = await linkTo({ onSend: failing(badRequest) });
    const { outcome } = call(link);
    await settled();
    expect(outcome.error).toBe(badRequest);
    transport.answer(transport.only('ping').id, {});
    const next = link.request({ method: 'prompts/get', timeoutMs: 1000 });
    transport.answer(transport.only('prompts/get').id, {});
    await expect(next).resolves.toMatchObject({ text: '{}' });
  });

  it('asks by a ping whether the server is there when its stream breaks off', async () => {
    const { transport } = await linkTo({});
    transport.onstream?.('lost');
    expect(transport.only('ping')).toBeDefined();
  });

  it.each(['answered', 'refused by one who does not know it'])(
    'leaves a stream alone that is silent, when a ping is %s',
    async (how) => {
      const { transport } = await linkTo({});
      transport.onstream?.('silent');
      const { id } = transport.only('ping');
      if (how === 'answered') transport.answer(id, {});
      else transport.refuse(id, { code: -32601, message: 'ping?' });
      await settled();
      expect(transport.renewals).toBe(0);
    },
  );

  it('has a silent stream opened anew when a ping is not answered', async () => {
    const failure = new TransportError('broken', 'no');
    const { transport, link } = await linkTo({
      onSend: ({ method }) => (method === 'ping' ? Promise.reject(failure) : undefined),
    });
    const outcome = outcomeOf(link.closed);
    transport.onstream?.('silent');
    await settled();
    expect(transport.renewals).toBe(1);
    expect(outcome).toEqual({});
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

  it('can be closed any number of times, and is over when the transport is', async () => {
    const transportClosed = deferred();
    const { link, transport } = await linkTo({ onClose: () => transportClosed.promise });
    let closed = false;
    void link.close().then(() => (closed = true));
    await settled();
    expect(closed).toBe(false);
    transportClosed.resolve();
    await settled();
    expect(closed).toBe(true);
    await link.close();
    expect(transport.closes).toBe(1);
  });
});
