import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LinkWarnings } from './link-warnings.js';

describe('LinkWarnings', () => {
  let logged: jest.SpiedFunction<Logger['warn']>;
  beforeEach(() => void (logged = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {})));
  afterEach(() => void jest.restoreAllMocks());

  it('logs the first three of a kind, then one every ten seconds with the number between', () => {
    let now = 0;
    const warnings = new LinkWarnings('db', () => now);
    for (let n = 0; n < 100; n++) warnings.add('junk', `line ${n}`);
    now = 10_000;
    for (let n = 0; n < 100; n++) warnings.add('junk');
    expect(logged.mock.calls.map(([entry]) => entry)).toEqual([
      { message: 'junk', server: 'db', cause: 'line 0' },
      { message: 'junk', server: 'db', cause: 'line 1' },
      { message: 'junk', server: 'db', cause: 'line 2' },
      { message: 'junk', server: 'db', suppressed: 97 },
    ]);
  });

  it('limits each kind apart', () => {
    const warnings = new LinkWarnings('db', () => 0);
    for (let n = 0; n < 5; n++) warnings.add('junk');
    warnings.add('other');
    expect(logged).toHaveBeenCalledTimes(4);
  });
});
