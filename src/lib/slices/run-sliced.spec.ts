import { describe, expect, it } from '@jest/globals';
import { runSliced, type Steps } from './run-sliced.js';

function* job(steps: number, done: () => void): Steps<string> {
  for (let step = 0; step < steps; step++) yield;
  done();
  return 'result';
}

describe('runSliced', () => {
  it('finishes a job that fits into one slice before it returns', async () => {
    let isDone = false;
    const result = runSliced(
      job(3, () => (isDone = true)),
      () => undefined,
    );
    expect(isDone).toBe(true);
    expect(await result).toBe('result');
  });

  it('waits between steps where a slice ends', async () => {
    let isDone = false;
    let yields = 0;
    const result = runSliced(
      job(3, () => (isDone = true)),
      () => (++yields === 2 ? new Promise((resolve) => setImmediate(resolve)) : undefined),
    );
    expect(isDone).toBe(false);
    expect(await result).toBe('result');
    expect(yields).toBe(3);
  });

  it('rejects with the error of the job', async () => {
    const failing = job(1, () => {
      throw new Error('no');
    });
    await expect(runSliced(failing, () => undefined)).rejects.toThrow('no');
  });
});
