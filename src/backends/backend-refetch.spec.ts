import { beforeEach, describe, expect, it } from '@jest/globals';
import { BackendHarness } from '../../test/kit/backend-harness.js';
import { FakeClient } from '../../test/kit/fake-client.js';
import { FakeLink } from '../../test/kit/fake-link.js';
import { advanceTime, useFakeTime } from '../../test/kit/fake-time.js';
import { flushPromises } from '../../test/kit/promises.js';

useFakeTime();

describe('Backend.refetchTools', () => {
  const { linkOwner } = new FakeClient('a').call();
  let harness: BackendHarness;

  const answer = (...names: string[]): void =>
    harness.link
      .asked('tools/list')
      .answer({ tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) });

  beforeEach(async () => {
    harness = new BackendHarness({ timeoutMs: 60_000 });
    harness.connect = () => Promise.resolve(new FakeLink({}, { capabilities: { tools: {} } }));
    harness.backend.start();
    await flushPromises();
    answer();
    await flushPromises();
  });

  it('resolves when the tools are listed again', async () => {
    const refetched = harness.backend.refetchTools({ linkOwner });
    await advanceTime(1000);
    answer('x');
    await refetched;
    expect(harness.listings.at(-1)!.tools.map(({ name }) => name)).toEqual(['x']);
  });

  it('resolves after five seconds when the server does not answer', async () => {
    let isDone = false;
    void harness.backend.refetchTools({ linkOwner }).then(() => (isDone = true));
    await advanceTime(4999);
    expect(isDone).toBe(false);
    await advanceTime(1);
    expect(isDone).toBe(true);
  });
});
