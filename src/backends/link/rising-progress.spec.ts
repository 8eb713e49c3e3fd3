import { describe, expect, it } from '@jest/globals';
import { RisingProgress } from './rising-progress.js';

type Sent = readonly [requestId: number, params: string];

/** What the client gets of each notification. */
function forward(...sent: Sent[]): (string | undefined)[] {
  const rising = new RisingProgress();
  return sent.map(([requestId, params]) => rising.next(requestId, params));
}

describe('RisingProgress', () => {
  it.each(['{"progress" : 2.0}', '{"progress":1}', '{"progress":1}', '{"progress":"3"}', '{}'])(
    'does not change %s of the first request',
    (params) => {
      expect(forward([1, '{"progress":2}'], [1, params])).toEqual(['{"progress":2}', params]);
    },
  );

  it('adds what the requests before reached, to the total too', () => {
    const repeated = forward(
      [1, '{"progress":1,"total":2}'],
      [1, '{"progress":2,"total":2}'],
      [2, '{"progress":1,"total":3,"message":"again"}'],
      [2, '{"progress":3,"total":3}'],
      [3, '{"progress":0.5}'],
    );
    expect(repeated.slice(2)).toEqual([
      '{"progress":3,"total":5,"message":"again"}',
      '{"progress":5,"total":5}',
      '{"progress":5.5}',
    ]);
  });

  it.each(['"a few"', '1.7e308'])('does not change the total %s, which cannot be added', (total) => {
    const [, repeated] = forward([1, '{"progress":1e308}'], [2, `{"progress":1e300,"total":${total}}`]);
    expect(repeated).toBe(`{"progress":${1e308 + 1e300},"total":${total}}`);
  });

  it('begins above the highest progress, also if that was not the last', () => {
    expect(forward([1, '{"progress":5}'], [1, '{"progress":2}'], [2, '{"progress":1}'])[2]).toBe(
      '{"progress":6}',
    );
  });

  it('does not change the progress of a request that goes on where the request before ended', () => {
    expect(forward([1, '{"progress":2}'], [2, '{"progress":3}'], [2, '{"progress":4}'])).toEqual([
      '{"progress":2}',
      '{"progress":3}',
      '{"progress":4}',
    ]);
  });

  it.each(['{"progress":0}', '{"progress":-1}', '{"progress":1e308}'])(
    'drops %s of a repeated request, with which the progress would not rise',
    (params) => {
      const [, dropped, next] = forward([1, '{"progress":1e308}'], [2, params], [2, '{"progress":1e300}']);
      expect(dropped).toBeUndefined();
      expect(JSON.parse(next!)).toEqual({ progress: 1e308 + 1e300 });
    },
  );

  it.each(['{"progress":"3"}', '{"progress":null}', '{}'])('does not change the invalid %s', (params) => {
    expect(forward([1, '{"progress":2}'], [2, params], [2, '{"progress":1}'])).toEqual([
      '{"progress":2}',
      params,
      '{"progress":3}',
    ]);
  });
});
