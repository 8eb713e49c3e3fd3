import { describe, expect, it } from '@jest/globals';
import { LabelledCounter } from './labelled-counter.js';

describe('LabelledCounter', () => {
  it('counts by label values', () => {
    const counter = new LabelledCounter(['server_id', 'outcome']);
    counter.increment(['a', 'ok']);
    counter.increment(['a', 'ok']);
    counter.increment(['a', 'error']);
    counter.increment(['b', 'ok'], 5);
    expect([...counter]).toEqual([
      [{ server_id: 'a', outcome: 'ok' }, 2],
      [{ server_id: 'a', outcome: 'error' }, 1],
      [{ server_id: 'b', outcome: 'ok' }, 5],
    ]);
  });

  it('has a series after an increment by zero', () => {
    const counter = new LabelledCounter(['reason']);
    counter.increment(['stuck'], 0);
    expect([...counter]).toEqual([[{ reason: 'stuck' }, 0]]);
  });

  it('removes series that are not retained and starts them again at zero', () => {
    const counter = new LabelledCounter(['server_id', 'outcome']);
    counter.increment(['gone', 'ok'], 3);
    counter.increment(['stays', 'ok']);
    counter.retain(([server]) => server === 'stays');
    expect([...counter]).toEqual([[{ server_id: 'stays', outcome: 'ok' }, 1]]);
    counter.increment(['gone', 'ok']);
    expect([...counter]).toContainEqual([{ server_id: 'gone', outcome: 'ok' }, 1]);
  });
});
