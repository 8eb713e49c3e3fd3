import { describe, expect, it } from '@jest/globals';
import { SerialQueue } from './serial-queue.js';

const later = () => new Promise((resolve) => setImmediate(resolve));

describe('SerialQueue', () => {
  it('starts a task only after the one before it has ended', async () => {
    const queue = new SerialQueue();
    const steps: string[] = [];
    const task = (name: string) => async () => {
      steps.push(`${name} starts`);
      await later();
      steps.push(`${name} ends`);
      return name;
    };
    expect(await Promise.all([queue.run(task('a')), queue.run(task('b'))])).toEqual(['a', 'b']);
    expect(steps).toEqual(['a starts', 'a ends', 'b starts', 'b ends']);
  });

  it('passes an error to the caller of the task and runs the next task', async () => {
    const queue = new SerialQueue();
    const failed = queue.run(() => {
      throw new Error('broken');
    });
    const next = queue.run(() => 'done');
    await expect(failed).rejects.toThrow('broken');
    expect(await next).toBe('done');
  });
});
