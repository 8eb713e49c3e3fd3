import { describe, expect, it } from '@jest/globals';
import { FakeClient } from '../../../test/kit/fake-client.js';
import { outcomeOf, refusalOf, flushPromises } from '../../../test/kit/promises.js';
import { linkTo, type Sent } from '../../../test/kit/fake-transport.js';
import { deferred } from '../../../test/kit/until.js';
import type { JsonRpcLink } from './json-rpc-link.js';
import { TransportError, type TransportFault } from './transport.js';

const faultOf = (error: Error): TransportFault | undefined =>
  error instanceof TransportError ? error.fault : undefined;

/** A call and its outcome. */
function call(link: JsonRpcLink, params = '{}') {
  const caller = new FakeClient('a').call();
  const outcome = outcomeOf(link.request({ method: 'tools/call', params, caller, timeoutMs: 1000 }));
  return { caller, outcome };
}

/** Makes the transport fail to send a call. */
const failCallsWith =
  (error: Error) =>
  async ({ method }: Sent): Promise<void> => {
    if (method === 'tools/call') throw error;
  };

describe('JsonRpcLink, failing to send', () => {
  it('closes and rejects pending requests after the fault unreachable', async () => {
    const error = new TransportError('unreachable', 'gone');
    const { link } = await linkTo({ onSend: failCallsWith(error) });
    const waiting = refusalOf(link.request({ method: 'prompts/get', timeoutMs: 1000 }));
    const { outcome } = call(link);
    await flushPromises();
    expect(outcome.error).toBe(error);
    await expect(link.closed).resolves.toBe(error);
    expect(faultOf(await waiting)).toBe('broken');
    expect(faultOf(await refusalOf(link.request({ method: 'ping', timeoutMs: 1 })))).toBe('unreachable');
  });

  it('closes after the fault session-expired, and waits for the responses to pending requests', async () => {
    const error = new TransportError('session-expired', 'unknown session');
    const { link, transport } = await linkTo({ onSend: failCallsWith(error) });
    const waiting = link.request({ method: 'prompts/get', timeoutMs: 1000 });
    const { outcome } = call(link);
    await flushPromises();
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

  it('closes with session-expired when a ping after HTTP 400 gets HTTP 400 as well', async () => {
    const { link } = await linkTo({
      onSend: async ({ method }: Sent): Promise<void> => {
        if (method === 'tools/call' || method === 'ping') throw badRequest;
      },
    });
    call(link);
    await expect(link.closed).resolves.toMatchObject({ fault: 'session-expired' });
  });

  it('stays open when a ping after HTTP 400 is answered', async () => {
    const { link, transport } = await linkTo({ onSend: failCallsWith(badRequest) });
    const { outcome } = call(link);
    await flushPromises();
    expect(outcome.error).toBe(badRequest);
    transport.answer(transport.only('ping').id, {});
    const next = link.request({ method: 'prompts/get', timeoutMs: 1000 });
    transport.answer(transport.only('prompts/get').id, {});
    await expect(next).resolves.toMatchObject({ text: '{}' });
  });

  it('pings the server when its notification stream is lost', async () => {
    const { transport } = await linkTo({});
    transport.onstream?.('lost');
    expect(transport.only('ping')).toBeDefined();
  });

  it.each(['answered', 'answered with an unknown method error'])(
    'keeps a silent stream when a ping is %s',
    async (how) => {
      const { transport } = await linkTo({});
      transport.onstream?.('silent');
      const { id } = transport.only('ping');
      if (how === 'answered') transport.answer(id, {});
      else transport.refuse(id, { code: -32601, message: 'ping?' });
      await flushPromises();
      expect(transport.reopens).toBe(0);
    },
  );

  it('reopens a silent stream when a ping is not answered', async () => {
    const failure = new TransportError('broken', 'no');
    const { transport, link } = await linkTo({
      onSend: ({ method }) => (method === 'ping' ? Promise.reject(failure) : undefined),
    });
    const outcome = outcomeOf(link.closed);
    transport.onstream?.('silent');
    await flushPromises();
    expect(transport.reopens).toBe(1);
    expect(outcome).toEqual({});
  });

  it.each(['refused', 'broken', 'too-large', 'busy'] as const)(
    'stays open after the fault %s',
    async (fault) => {
      const error = new TransportError(fault, 'no');
      const { transport, link } = await linkTo({ onSend: failCallsWith(error) });
      const { outcome, caller } = call(link);
      await flushPromises();
      expect(outcome.error).toBe(error);
      expect(caller.abortListeners).toBe(0);
      const ping = link.request({ method: 'ping', timeoutMs: 1000 });
      transport.answer(transport.only('ping').id, {});
      await expect(ping).resolves.toMatchObject({ text: '{}' });
    },
  );

  it('rejects with the fault broken after any other error of the transport', async () => {
    const { link } = await linkTo({ onSend: failCallsWith(new Error('fetch failed')) });
    const { outcome } = call(link);
    await flushPromises();
    expect(faultOf(outcome.error!)).toBe('broken');
    expect(outcome.error?.message).toBe('fetch failed');
  });

  it('closes also when a notification cannot be sent', async () => {
    const error = new TransportError('session-expired', 'gone');
    const { link } = await linkTo({
      onSend: ({ method }) => (method === 'notifications/x' ? Promise.reject(error) : undefined),
    });
    link.notify('notifications/x');
    await expect(link.closed).resolves.toBe(error);
  });
});

describe('JsonRpcLink, closing', () => {
  it('rejects all pending requests and removes their listeners', async () => {
    const { transport, link } = await linkTo();
    const calls = [call(link), call(link)];
    transport.disconnect();
    await flushPromises();
    for (const { outcome, caller } of calls) {
      expect(faultOf(outcome.error!)).toBe('broken');
      expect(caller.abortListeners).toBe(0);
    }
    await expect(link.closed).resolves.toMatchObject({ message: 'the connection closed' });
  });

  it('resolves closed with the transport error, and with no other reported error', async () => {
    const failed = await linkTo();
    const fault = new TransportError('too-large', 'line over 8 bytes');
    failed.transport.disconnect(fault);
    await expect(failed.link.closed).resolves.toBe(fault);

    const other = await linkTo();
    other.transport.disconnect(new Error('a line is not JSON-RPC'));
    await expect(other.link.closed).resolves.toMatchObject({ message: 'the connection closed' });
  });

  it('counts messages that the transport did not read because of their size, and no other failure', async () => {
    const limits: string[] = [];
    const onRefusedJson = (limit: string): void => void limits.push(limit);
    const unread = new TransportError('too-large', 'body over 8 bytes', { isUnread: true });
    const { transport, link } = await linkTo({ onSend: failCallsWith(unread) }, { onRefusedJson });
    call(link);
    await flushPromises();
    expect(limits).toEqual(['size']);
    transport.onerror?.(new TransportError('too-large', 'has too many members'));
    transport.disconnect(unread);
    expect(limits).toEqual(['size', 'size']);
  });

  it('can be closed repeatedly, and resolves when the transport is closed', async () => {
    const transportClosed = deferred();
    const { link, transport } = await linkTo({ onClose: () => transportClosed.promise });
    let closed = false;
    void link.close().then(() => (closed = true));
    await flushPromises();
    expect(closed).toBe(false);
    transportClosed.resolve();
    await flushPromises();
    expect(closed).toBe(true);
    await link.close();
    expect(transport.closes).toBe(1);
  });
});
