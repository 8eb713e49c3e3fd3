import { request, type IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { Events } from '../../test/kit/events.js';
import { serve } from '../../test/kit/serve.js';
import { until } from '../../test/kit/until.js';
import { ChangeFeed } from './change-feed.js';
import type { SecretRedactor } from './secret-redactor.js';

const secrets = { redact: (value: unknown) => value } as unknown as SecretRedactor;

async function serveFeed(): Promise<{ feed: ChangeFeed; read: () => Promise<IncomingMessage> }> {
  const feed = new ChangeFeed(secrets);
  feed.onModuleInit();
  onCleanup(() => feed.beforeApplicationShutdown());
  const { url } = await serve((_request, response) => feed.open(response, { revision: 7 }));
  const read = (): Promise<IncomingMessage> =>
    new Promise((resolve) => {
      const outgoing = request(url, resolve).on('error', () => {});
      onCleanup(() => outgoing.destroy());
      outgoing.end();
    });
  return { feed, read };
}

describe('ChangeFeed', () => {
  it('sends each reader a snapshot and then every event in order', async () => {
    const { feed, read } = await serveFeed();
    const [first, second] = [new Events(await read()), new Events(await read())];
    feed.publish('server', { id: 'a' });
    feed.publish('catalog', { kind: 'tools' });
    for (const events of [first, second]) {
      await until('all events have arrived', () => events.all.length === 3);
      expect(events.messages).toEqual([{ revision: 7 }, { id: 'a' }, { kind: 'tools' }]);
    }
  });

  it('disconnects only a reader that does not read', async () => {
    const { feed, read } = await serveFeed();
    const stuck = await read();
    stuck.pause().on('error', () => {});
    const events = new Events(await read());
    const data = { text: 'x'.repeat(65_536) };
    let published = 0;
    await until('the stuck reader is gone', () => {
      feed.publish('server', data);
      published++;
      return feed.size === 1;
    });
    await until('the other reader has all events', () => events.all.length === published + 1);
    expect(published).toBeLessThan(1000);
  });

  it('drops readers that disconnect, and ends the others at shutdown', async () => {
    const { feed, read } = await serveFeed();
    (await read()).destroy();
    const events = new Events(await read());
    await until('one reader is left', () => feed.size === 1);
    feed.beforeApplicationShutdown();
    await events.untilEnded();
    expect(events.messages.at(-1)).toEqual({ at: expect.any(String) });
    expect(() => feed.requireCapacity()).toThrow(expect.objectContaining({ kind: 'draining' }));
    expect(feed.size).toBe(0);
  });
});
