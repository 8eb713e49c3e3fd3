import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeResponse } from '../../../test/kit/fake-response.js';
import { createListens, listenRequest } from '../../../test/kit/listens.js';
import { flushPromises, outcomeOf } from '../../../test/kit/promises.js';
import { Scrape } from '../../../test/kit/scrape.js';
import { deferred } from '../../../test/kit/until.js';
import { limitExceeded } from '../../core/errors.js';
import { Cancellation } from '../../lib/cancellation/cancellation.js';
import type { ModernContext, SubscriberRequest } from '../../mcp/mcp-context.js';
import { Metrics } from '../../metrics/metrics.js';
import type { ListenedResources, ListenSubscriptions } from '../../subscriptions/listen-subscriptions.js';
import { ListenController } from './listen.controller.js';
import type { Listens } from './listens.service.js';

const PARAMS = { notifications: { toolsListChanged: true, resourceSubscriptions: ['x://a', 'x://b'] } };

describe('ListenController', () => {
  let metrics: Metrics;
  let listens: Listens;
  let controller: ListenController;
  let client: FakeResponse;
  let signal: Cancellation;
  let taken: number;
  let acknowledgements: number;
  let subscribed: (request: SubscriberRequest, uris: readonly string[]) => Promise<ListenedResources>;

  const honouring = (...honoured: string[]): ListenedResources => ({
    honoured,
    acknowledged: () => (acknowledgements += Number(client.methods.length > 0 || taken > 0)),
  });

  beforeEach(() => {
    metrics = new Metrics();
    listens = createListens(undefined, { metrics });
    client = new FakeResponse();
    signal = new Cancellation();
    taken = 0;
    acknowledgements = 0;
    subscribed = () => Promise.resolve(honouring('x://b'));
    const subscriptions = {
      subscribe: (request: SubscriberRequest, uris: readonly string[]) => subscribed(request, uris),
    } as unknown as ListenSubscriptions;
    controller = new ListenController(listens, subscriptions, metrics);
  });

  const takeStream = (): ServerResponse => {
    taken++;
    return client.response;
  };

  function listen(params: object = PARAMS): Promise<void> {
    return controller.listen(
      params as never,
      { ...listenRequest(), signal, takeStream } as unknown as ModernContext,
    );
  }

  const outcomes = async (outcome: string): Promise<number | undefined> =>
    new Scrape(await metrics.text()).value('gatehouse_listens_total', { outcome });

  it('acknowledges what is honoured, and then lets the held updates follow', async () => {
    let asked: readonly string[] = [];
    subscribed = (_request, uris) => {
      asked = uris;
      return Promise.resolve(honouring('x://b'));
    };
    await listen();
    await flushPromises();
    expect(asked).toEqual(['x://a', 'x://b']);
    expect(client.messages).toMatchObject([
      { params: { notifications: { toolsListChanged: true, resourceSubscriptions: ['x://b'] } } },
    ]);
    expect([acknowledgements, listens.size, await outcomes('acknowledged')]).toEqual([1, 1, 1]);
  });

  it('holds nothing for a request that is refused', async () => {
    subscribed = () => Promise.reject(limitExceeded('too many', 1));
    await expect(listen()).rejects.toMatchObject({ kind: 'limit-exceeded' });
    await expect(listen({ notifications: 1 })).rejects.toMatchObject({ kind: 'invalid-params' });
    expect([taken, listens.size, await outcomes('refused'), await outcomes('failed')]).toEqual([0, 0, 1, 1]);
  });

  it('holds nothing for a client that leaves before the acknowledgement', async () => {
    const confirmed = deferred<ListenedResources>();
    subscribed = () => confirmed.promise;
    const outcome = outcomeOf(listen());
    await flushPromises();
    expect(listens.size).toBe(1);
    signal.abort();
    expect(listens.size).toBe(0);
    confirmed.resolve(honouring());
    await flushPromises();
    expect(outcome.error).toMatchObject({ kind: 'cancelled' });
    expect([taken, acknowledgements, await outcomes('cancelled')]).toEqual([0, 0, 1]);
  });

  it('holds nothing for a client that has left before its request is processed', async () => {
    signal.abort();
    await expect(listen()).rejects.toMatchObject({ kind: 'cancelled' });
    expect([taken, listens.size, await outcomes('cancelled')]).toEqual([0, 0, 1]);
  });

  it('answers with an error when the credentials become invalid before the acknowledgement', async () => {
    subscribed = () => {
      for (const one of listens.all()) one.close();
      return Promise.resolve(honouring('x://b'));
    };
    await expect(listen()).rejects.toMatchObject({ kind: 'cancelled' });
    expect([taken, listens.size]).toEqual([0, 0]);
  });

  it('subscribes with the scope of the request, for the stream', async () => {
    let request: SubscriberRequest | undefined;
    subscribed = (given) => {
      request = given;
      return Promise.resolve(honouring());
    };
    await listen();
    expect([...listens.all()]).toEqual([request!.subscriber]);
    expect(request!.scope).toBe(listenRequest().scope);
  });
});
