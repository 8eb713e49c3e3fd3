import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AdminHarness } from '../../test/kit/admin-harness.js';
import type { Backends } from '../backends/backends.service.js';
import type { ChangeFeed } from './change-feed.js';
import { ServerFeedPublisher } from './feed-publishers.js';

const IDLE = { calls: 0, inFlight: 0, waiting: 0, stderr: [] as readonly string[], reason: '' };

describe('ServerFeedPublisher', () => {
  const published: string[] = [];
  const running = new Map<string, typeof IDLE>();
  let feed: ServerFeedPublisher;
  let hasReaders: boolean;

  beforeEach(() => {
    jest.useFakeTimers();
    published.splice(0);
    running.clear();
    running.set('a', IDLE).set('b', IDLE);
    hasReaders = true;
    const harness = new AdminHarness({ mcpServers: { a: { command: 'x' }, b: { command: 'x' } } });
    const backends = {
      all: () => [...running].map(([id, status]) => ({ id, status: () => status })),
      onStateChange: () => {},
    } as unknown as Backends;
    const changes = {
      get hasReaders() {
        return hasReaders;
      },
      publish: (_kind: string, { id }: { id: string }) => published.push(id),
    } as unknown as ChangeFeed;
    feed = new ServerFeedPublisher(harness.desired, backends, harness.registry, harness.views, changes);
    feed.onModuleInit();
    jest.advanceTimersByTime(1000);
    published.splice(0);
  });

  afterEach(() => {
    feed.onApplicationShutdown();
    jest.useRealTimers();
  });

  it.each([
    ['was called', { calls: 1 }],
    ['is busy', { inFlight: 1 }],
    ['has calls waiting', { waiting: 1 }],
    ['wrote to stderr', { stderr: ['once more'] }],
    ['has been connecting for another second', { reason: 'waiting 2 s for initialize' }],
  ])('publishes within a second only the server that %s', (_what, change) => {
    running.set('b', { ...IDLE, ...change });
    jest.advanceTimersByTime(1000);
    expect(published).toEqual(['b']);
    jest.advanceTimersByTime(10_000);
    expect(published).toEqual(['b']);
  });

  it('publishes a server that was removed and added again as a new one', () => {
    running.delete('a');
    jest.advanceTimersByTime(1000);
    expect(published).toEqual([]);
    running.set('a', IDLE);
    jest.advanceTimersByTime(1000);
    expect(published).toEqual(['a']);
  });

  it('polls no server without readers', () => {
    hasReaders = false;
    running.set('a', { ...IDLE, calls: 1 });
    jest.advanceTimersByTime(5000);
    expect(published).toEqual([]);
  });
});
