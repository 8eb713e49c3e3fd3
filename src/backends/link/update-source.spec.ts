import { describe, expect, it } from '@jest/globals';
import { FakeLink } from '../../../test/kit/fake-link.js';
import type { NotificationStreamStatus } from './link.js';
import { updateSourceOf } from './update-source.js';

describe('updateSourceOf', () => {
  it.each<
    [subscribe: boolean, refuses: boolean, NotificationStreamStatus, pollMs: number | undefined, string]
  >([
    [true, false, 'open', undefined, 'subscriptions'],
    [true, false, 'open', 1000, 'subscriptions'],
    [true, false, 'opening', undefined, 'subscriptions'],
    [true, false, 'lost', undefined, 'subscriptions'],
    [true, false, 'none', undefined, 'none'],
    [true, false, 'none', 1000, 'polling'],
    [true, true, 'open', undefined, 'unsolicited'],
    [true, true, 'open', 1000, 'polling'],
    [false, false, 'open', undefined, 'unsolicited'],
    [false, false, 'open', 1000, 'polling'],
    [false, false, 'none', undefined, 'none'],
  ])('with subscribe: %j, refused: %j, stream: %s, pollMs: %j is %s', (...row) => {
    const [subscribe, refusesSubscriptions, notificationStream, pollMs, expected] = row;
    const link = new FakeLink({}, { capabilities: { resources: { subscribe } } });
    Object.assign(link, { refusesSubscriptions, notificationStream });
    expect(updateSourceOf(link, pollMs)).toBe(expected);
  });
});
