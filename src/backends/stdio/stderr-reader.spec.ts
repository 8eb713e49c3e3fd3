import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { until } from '../../../test/kit/until.js';
import { IterationBudget } from '../../lib/slices/iteration-budget.js';
import { StderrReader } from './stderr-reader.js';

/** Reads chunks, each of which takes so many milliseconds. `pauses` are the numbers of chunks that were read before each pause. */
function readerOf(ms: number, budget = new IterationBudget()) {
  const stderr = new Readable({ read: () => undefined });
  const read: number[] = [];
  const pauses: number[] = [];
  const push = (chunk: Buffer): void => {
    const end = performance.now() + ms;
    while (performance.now() < end);
    read.push(chunk.length);
  };
  void new StderrReader(stderr, { push }, budget);
  stderr.on('pause', () => pauses.push(read.length));
  return { stderr, read, pauses };
}

/** A budget that is always used up. */
class NoBudget extends IterationBudget {
  override charge(): boolean {
    return true;
  }
}

describe('StderrReader', () => {
  it('pauses after a chunk that took long, and reads the next one later', async () => {
    const { stderr, read, pauses } = readerOf(5);
    stderr.push('one');
    stderr.push('second');
    await until('both chunks are read', () => read.length === 2);
    expect(read).toEqual([3, 6]);
    expect(pauses).toEqual([1, 2]);
  });

  it('pauses when other input has used up the time of the iteration', async () => {
    const { stderr, pauses } = readerOf(0, new NoBudget());
    stderr.push('one');
    await until('it reads again after the pause', () => pauses.length > 0 && !stderr.isPaused());
    expect(pauses).toEqual([1]);
  });

  it('pauses for many bytes, although their lines took no time', async () => {
    const { stderr, read, pauses } = readerOf(0);
    for (let n = 0; n < 20; n++) stderr.push(Buffer.alloc(65_536));
    await until('all chunks are read', () => read.length === 20);
    expect(pauses.length).toBeGreaterThan(3);
  });

  it('does not pause for a few lines', async () => {
    const { stderr, read, pauses } = readerOf(0);
    stderr.push('a line\n');
    await until('the line is read', () => read.length === 1);
    expect(pauses).toEqual([]);
  });
});
