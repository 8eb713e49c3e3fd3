import { describe, expect, it } from '@jest/globals';
import { FakeLink, outcomeOf, settled } from '../../test/kit/fake-link.js';
import { Served } from '../../test/kit/served-backend.js';
import { pass, stillTime } from '../../test/kit/still-time.js';
import { deferred } from '../../test/kit/until.js';
import type { Link } from './link/link.js';

stillTime();

/** Whether `whenSynced`, called now, has resolved. */
const waiter = ({ backend }: Served): { value?: boolean } =>
  outcomeOf(backend.whenSynced(9000).then(() => true));

const withTools = (): FakeLink => new FakeLink({}, { capabilities: { tools: {} } });

describe('Backend.reconnect', () => {
  it('replaces the link', async () => {
    const served = await Served.ready();
    served.backend.reconnect();
    await settled();
    expect(served.links).toHaveLength(2);
    expect(served.backend.status().restarts).toBe(1);
  });

  it('makes whenSynced wait for the first sync over the new link', async () => {
    const served = await Served.ready();
    const arrival = deferred<Link>();
    served.connect = () => arrival.promise;
    const before = waiter(served);
    served.backend.reconnect();
    const after = waiter(served);
    await settled();
    expect([before.value, after.value, served.state]).toEqual([true, undefined, 'connecting']);
    arrival.resolve(withTools());
    await settled();
    expect([after.value, served.state]).toEqual([undefined, 'ready']);
    served.link.asked('tools/list').answer({ tools: [] });
    await settled();
    expect(after.value).toBe(true);
  });

  it('makes whenSynced ignore a sync over the old link', async () => {
    const served = new Served();
    served.connect = () => Promise.resolve(withTools());
    served.backend.start();
    await settled();
    const old = served.link;
    old.asked('tools/list').answer({ tools: [] });
    await settled();
    old.say('notifications/tools/list_changed');
    await pass(1000);
    const again = old.asked('tools/list');
    old.close = () => new Promise(() => {});
    served.backend.reconnect();
    const after = waiter(served);
    again.answer({ tools: [] });
    await settled();
    expect(after.value).toBeUndefined();
  });

  it.each([
    ['is ready', (): void => {}],
    ['is retrying', (served: Served): void => served.link.lose()],
  ])('resolves whenSynced when the server cannot be reached while the backend %s', async (_what, prepare) => {
    const served = await Served.ready();
    prepare(served);
    await settled();
    const arrival = deferred<Link>();
    served.connect = () => arrival.promise.then(() => Promise.reject(new Error('no route')));
    served.backend.reconnect();
    const after = waiter(served);
    await settled();
    expect(after.value).toBeUndefined();
    arrival.resolve(withTools());
    await settled();
    expect([after.value, served.state]).toEqual([true, 'retrying']);
  });

  it('resolves whenSynced when the backend is stopped instead', async () => {
    const served = await Served.ready();
    served.backend.reconnect();
    const after = waiter(served);
    await served.backend.stop();
    await settled();
    expect(after.value).toBe(true);
  });

  it('resolves whenSynced after its timeout', async () => {
    const served = await Served.ready();
    served.connect = () => new Promise(() => {});
    served.backend.reconnect();
    const after = waiter(served);
    await pass(8999);
    expect(after.value).toBeUndefined();
    await pass(1);
    expect(after.value).toBe(true);
  });
});
