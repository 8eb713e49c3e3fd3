import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeResponse } from '../../test/kit/fake-response.js';
import { createListens, listenRequest } from '../../test/kit/listens.js';
import { Limits } from '../config/limits.js';
import { publicSessionId, type Session } from '../edge/session.js';
import type { Listens } from '../edge/modern/listens.service.js';
import { Sessions } from '../edge/sessions.service.js';
import { ANONYMOUS } from '../mcp/principal.js';
import { ConnectedClients } from './connected-clients.js';
import type { ChangeFeed } from './change-feed.js';
import { MAX_PUBLISHED_SESSIONS, SessionFeed } from './session-feed.js';
import type { SessionViews } from './session-views.js';

const call = (session: Session): void => {
  const request = { requestId: 1 } as Parameters<Session['beginRequest']>[0];
  session.beginRequest(request);
  session.finishRequest(request);
};

describe('SessionFeed', () => {
  const published: object[] = [];
  const feed = { hasReaders: true, publish: (_kind: string, data: object) => published.push(data) };
  let sessions: Sessions;
  let listens: Listens;
  let sessionFeed: SessionFeed;
  let subscriptions: number;

  beforeEach(() => {
    jest.useFakeTimers();
    published.splice(0);
    subscriptions = 0;
    feed.hasReaders = true;
    sessions = new Sessions(new Limits());
    const views = {
      summary: (session: Session) => ({ id: publicSessionId(session) }),
      subscriptionsOf: () => subscriptions,
    } as unknown as SessionViews;
    listens = createListens(sessions.recipients);
    const clients = new ConnectedClients(sessions, listens);
    sessionFeed = new SessionFeed(clients, views, feed as unknown as ChangeFeed);
    sessionFeed.onModuleInit();
  });

  afterEach(() => {
    sessionFeed.onApplicationShutdown();
    jest.useRealTimers();
  });

  function open(): Session {
    const session = sessions.create(ANONYMOUS);
    sessions.add(session);
    return session;
  }

  const nextPoll = async (): Promise<object[]> => {
    published.splice(0);
    await jest.advanceTimersByTimeAsync(1000);
    return [...published];
  };

  it('publishes a session that opens and closes at once', async () => {
    const session = open();
    const id = publicSessionId(session);
    expect(published).toEqual([{ id }]);
    expect(await nextPoll()).toEqual([]);
    session.close();
    expect(published).toEqual([{ id, closed: true }]);
  });

  it('publishes a listen stream that opens, is acknowledged, and ends', async () => {
    const listen = listens.create(listenRequest(), []);
    const { id } = listen;
    expect(published).toEqual([{ id }]);
    listen.open({ takeStream: () => new FakeResponse().response }, {});
    expect(await nextPoll()).toEqual([{ id }]);
    expect(await nextPoll()).toEqual([]);
    listen.close();
    expect(published).toEqual([{ id, closed: true }]);
  });

  it.each<[string, (session: Session) => void]>([
    ['calls', (session) => [1, 2, 3].forEach(() => call(session))],
    ['opens its stream', (session) => session.listen(new FakeResponse().response)],
    ['subscribes', () => (subscriptions = 1)],
  ])('publishes a session that %s once, within a second', async (_what, change) => {
    const session = open();
    await nextPoll();
    change(session);
    expect(await nextPoll()).toEqual([{ id: publicSessionId(session) }]);
    expect(await nextPoll()).toEqual([]);
  });

  it('publishes one event for very many sessions that have changed', async () => {
    const opened = Array.from({ length: MAX_PUBLISHED_SESSIONS + 1 }, open);
    await nextPoll();
    opened.forEach(call);
    expect(await nextPoll()).toEqual([{ changed: MAX_PUBLISHED_SESSIONS + 1 }]);
    opened.slice(1).forEach(call);
    expect(await nextPoll()).toHaveLength(MAX_PUBLISHED_SESSIONS);
  });

  it('publishes what has changed without readers to the next reader', async () => {
    feed.hasReaders = false;
    const session = open();
    expect(published).toEqual([]);
    call(session);
    expect(await nextPoll()).toEqual([]);
    feed.hasReaders = true;
    expect(await nextPoll()).toEqual([{ id: publicSessionId(session) }]);
  });
});
