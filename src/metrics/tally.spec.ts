import { describe, expect, it } from '@jest/globals';
import { Tally } from './tally.js';

describe('Tally', () => {
  it('counts by the values of its labels', () => {
    const tally = new Tally(['server_id', 'outcome']);
    tally.count(['a', 'ok']);
    tally.count(['a', 'ok']);
    tally.count(['a', 'error']);
    tally.count(['b', 'ok'], 5);
    expect([...tally]).toEqual([
      [{ server_id: 'a', outcome: 'ok' }, 2],
      [{ server_id: 'a', outcome: 'error' }, 1],
      [{ server_id: 'b', outcome: 'ok' }, 5],
    ]);
  });

  it('has a series that was not counted yet', () => {
    const tally = new Tally(['reason']);
    tally.count(['stuck'], 0);
    expect([...tally]).toEqual([[{ reason: 'stuck' }, 0]]);
  });

  it('forgets what is not to be kept, and begins anew when it is counted again', () => {
    const tally = new Tally(['server_id', 'outcome']);
    tally.count(['gone', 'ok'], 3);
    tally.count(['stays', 'ok']);
    tally.retain(([server]) => server === 'stays');
    expect([...tally]).toEqual([[{ server_id: 'stays', outcome: 'ok' }, 1]]);
    tally.count(['gone', 'ok']);
    expect([...tally]).toContainEqual([{ server_id: 'gone', outcome: 'ok' }, 1]);
  });
});
