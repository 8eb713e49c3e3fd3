import { availableParallelism } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { advanceTime, useFakeTime } from '../../../test/kit/fake-time.js';
import { flushPromises, outcomeOf } from '../../../test/kit/promises.js';
import { StartSlots } from './start-slots.js';

/** Requests a number of starts, which end when the spec says so. */
class Starts {
  readonly running: number[] = [];
  readonly aborts: AbortController[] = [];
  private readonly ends: ((value: unknown) => void)[] = [];

  constructor(private readonly slots: StartSlots) {}

  request(count: number): void {
    for (let n = 0; n < count; n++) {
      const abort = new AbortController();
      const id = this.aborts.push(abort) - 1;
      const start = (): Promise<unknown> => {
        this.running.push(id);
        return new Promise((resolve) => (this.ends[id] = resolve));
      };
      outcomeOf(this.slots.run(start, abort.signal));
    }
  }

  async end(id: number): Promise<void> {
    this.running.splice(this.running.indexOf(id), 1);
    this.ends[id]!(undefined);
    await flushPromises();
  }
}

function open(limit: number): { slots: StartSlots; starts: Starts } {
  const slots = new StartSlots(limit);
  return { slots, starts: new Starts(slots) };
}

useFakeTime();

describe('StartSlots', () => {
  it('starts no server before it is open', async () => {
    const { slots, starts } = open(2);
    starts.request(3);
    await flushPromises();
    expect([starts.running, slots.waiting]).toEqual([[], 3]);
    slots.open();
    await flushPromises();
    expect([starts.running, slots.waiting]).toEqual([[0, 1], 1]);
  });

  it('starts the next server, in order, when one has started', async () => {
    const { slots, starts } = open(2);
    slots.open();
    starts.request(5);
    await starts.end(1);
    expect(starts.running).toEqual([0, 2]);
    await starts.end(0);
    expect(starts.running).toEqual([2, 3]);
  });

  it('does not count a server that takes longer than 3 s, and counts its end once', async () => {
    const { slots, starts } = open(1);
    slots.open();
    starts.request(4);
    await advanceTime(2999);
    expect(starts.running).toEqual([0]);
    await advanceTime(1);
    expect(starts.running).toEqual([0, 1]);
    await starts.end(0);
    expect([starts.running, slots.waiting]).toEqual([[1], 2]);
  });

  it('forgets a server that is stopped while it waits', async () => {
    const { slots, starts } = open(1);
    slots.open();
    starts.request(3);
    starts.aborts[1]!.abort();
    await starts.end(0);
    expect([starts.running, slots.waiting]).toEqual([[2], 0]);
  });

  it('has twice as many slots as there are cores by default', () => {
    const slots = new StartSlots();
    const starts = new Starts(slots);
    slots.open();
    starts.request(availableParallelism() * 2 + 1);
    expect(starts.running).toHaveLength(availableParallelism() * 2);
  });
});
