import { describe, expect, it } from '@jest/globals';
import type { SessionRecords } from '../../src/state/session-records.js';
import { storedSession, storedSubscription } from '../kit/session-records.js';

/** Records as one gateway process opens them; `close` is an orderly stop. */
export interface OpenRecordsStore {
  readonly records: SessionRecords;
  readonly close: () => Promise<void>;
}

/** The contract of SessionRecords. `makeStore` creates an empty store and returns a function that opens it. */
export const sessionRecordsContract = (
  adapter: string,
  makeStore: () => () => Promise<OpenRecordsStore>,
): void => {
  describe(`${adapter} as SessionRecords`, () => {
    it('is empty at first', async () => {
      const { records } = await makeStore()();
      expect(await records.load()).toEqual([]);
      await records.flush();
      expect(records.failures).toBe(0);
    });

    it('keeps all records for the next process', async () => {
      const open = makeStore();
      const { records, close } = await open();
      const full = storedSession('a', {
        principal: { id: 'https://issuer|ä', grants: '*', terms: 't', until: 99 },
        project: 'payments',
        profile: JSON.stringify({
          capabilities: { sampling: { x: [1, null, 0.1] } },
          clientInfo: { name: 'ü\u2028\n"', version: '1' },
        }),
        logLevel: 'warning',
      });
      records.put(full, 10);
      records.addSubscription('a', storedSubscription('1', 'x://\u2028日本'));
      records.addSubscription('a', storedSubscription('2', 'x://t/{id}'));
      records.put(storedSession('b'), 11);
      await close();
      const next = await open();
      expect(await next.records.load()).toEqual([
        {
          session: full,
          seen: 10,
          subscriptions: [storedSubscription('1', 'x://\u2028日本'), storedSubscription('2', 'x://t/{id}')],
        },
        { session: storedSession('b'), seen: 11, subscriptions: [] },
      ]);
    });

    it('replaces a session and keeps its subscriptions', async () => {
      const open = makeStore();
      const { records, close } = await open();
      records.put(storedSession('a'), 1);
      records.addSubscription('a', storedSubscription('1'));
      records.put(storedSession('a', { logLevel: 'debug' }), 2);
      records.touch('a', 3);
      await close();
      const [record] = await (await open()).records.load();
      expect(record).toEqual({
        session: storedSession('a', { logLevel: 'debug' }),
        seen: 3,
        subscriptions: [storedSubscription('1')],
      });
    });

    it('removes a subscription, and a session with its subscriptions', async () => {
      const open = makeStore();
      const { records, close } = await open();
      for (const id of ['a', 'b']) {
        records.put(storedSession(id), 1);
        records.addSubscription(id, storedSubscription(`${id}1`));
        records.addSubscription(id, storedSubscription(`${id}2`));
      }
      records.removeSubscription('a', 'a1');
      records.remove('b');
      await close();
      expect(await (await open()).records.load()).toEqual([
        { session: storedSession('a'), seen: 1, subscriptions: [storedSubscription('a2')] },
      ]);
    });

    it('ignores subscriptions of an unknown session', async () => {
      const { records } = await makeStore()();
      records.touch('a', 1);
      records.addSubscription('a', storedSubscription('1'));
      records.removeSubscription('a', '1');
      records.remove('a');
      records.put(storedSession('a'), 1);
      expect(await records.load()).toEqual([{ session: storedSession('a'), seen: 1, subscriptions: [] }]);
    });

    it('ignores changes after close, which is idempotent', async () => {
      const open = makeStore();
      const { records, close } = await open();
      records.put(storedSession('a'), 1);
      await records.close();
      await records.close();
      records.remove('a');
      await records.flush();
      await close();
      expect(await (await open()).records.load()).toHaveLength(1);
    });
  });
};
