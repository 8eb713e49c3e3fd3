import { describe, expect, it } from '@jest/globals';
import { FakeLink } from '../../test/kit/fake-link.js';
import { outcomeOf, flushPromises } from '../../test/kit/promises.js';
import { BackendHarness } from '../../test/kit/backend-harness.js';
import { advanceTime, useFakeTime } from '../../test/kit/fake-time.js';
import { deferred } from '../../test/kit/until.js';
import type { Link } from './link/link.js';

useFakeTime();

/** Calls `whenSynced`. The value is true when it has resolved. */
const startWaiting = ({ backend }: BackendHarness): { value?: boolean } =>
  outcomeOf(backend.whenSynced(9000).then(() => true));

const withTools = (): FakeLink => new FakeLink({}, { capabilities: { tools: {} } });

describe('Backend.reconnect', () => {
  it('replaces the link', async () => {
    const harness = await BackendHarness.ready();
    harness.backend.reconnect();
    await flushPromises();
    expect(harness.links).toHaveLength(2);
    expect(harness.backend.status().restarts).toBe(1);
  });

  it('makes whenSynced wait for the first sync over the new link', async () => {
    const harness = await BackendHarness.ready();
    const nextLink = deferred<Link>();
    harness.connect = () => nextLink.promise;
    const before = startWaiting(harness);
    harness.backend.reconnect();
    const after = startWaiting(harness);
    await flushPromises();
    expect([before.value, after.value, harness.state]).toEqual([true, undefined, 'connecting']);
    nextLink.resolve(withTools());
    await flushPromises();
    expect([after.value, harness.state]).toEqual([undefined, 'ready']);
    harness.link.asked('tools/list').answer({ tools: [] });
    await flushPromises();
    expect(after.value).toBe(true);
  });

  it('makes whenSynced ignore a sync over the old link', async () => {
    const harness = new BackendHarness();
    harness.connect = () => Promise.resolve(withTools());
    harness.backend.start();
    await flushPromises();
    const old = harness.link;
    old.asked('tools/list').answer({ tools: [] });
    await flushPromises();
    old.emit('notifications/tools/list_changed');
    await advanceTime(1000);
    const again = old.asked('tools/list');
    old.close = () => new Promise(() => {});
    harness.backend.reconnect();
    const after = startWaiting(harness);
    again.answer({ tools: [] });
    await flushPromises();
    expect(after.value).toBeUndefined();
  });

  it.each([
    ['is ready', (): void => {}],
    ['is retrying', (harness: BackendHarness): void => harness.link.disconnect()],
  ])('resolves whenSynced when the server cannot be reached while the backend %s', async (_what, prepare) => {
    const harness = await BackendHarness.ready();
    prepare(harness);
    await flushPromises();
    const nextLink = deferred<Link>();
    harness.connect = () => nextLink.promise.then(() => Promise.reject(new Error('no route')));
    harness.backend.reconnect();
    const after = startWaiting(harness);
    await flushPromises();
    expect(after.value).toBeUndefined();
    nextLink.resolve(withTools());
    await flushPromises();
    expect([after.value, harness.state]).toEqual([true, 'retrying']);
  });

  it('resolves whenSynced when the backend is stopped instead', async () => {
    const harness = await BackendHarness.ready();
    harness.backend.reconnect();
    const after = startWaiting(harness);
    await harness.backend.stop();
    await flushPromises();
    expect(after.value).toBe(true);
  });

  it('resolves whenSynced after its timeout', async () => {
    const harness = await BackendHarness.ready();
    harness.connect = () => new Promise(() => {});
    harness.backend.reconnect();
    const after = startWaiting(harness);
    await advanceTime(8999);
    expect(after.value).toBeUndefined();
    await advanceTime(1);
    expect(after.value).toBe(true);
  });
});
