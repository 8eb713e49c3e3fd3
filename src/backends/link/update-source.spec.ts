import { describe, expect, it } from '@jest/globals';
import { FakeLink } from '../../../test/kit/fake-link.js';
import type { NotificationStreamStatus } from './link.js';
import type { SubscribeMode } from '../../config/common-server-config.js';
import { usesSubscriptions, updateSourceOf } from './update-source.js';

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
    expect(updateSourceOf(link, 'announced', pollMs)).toBe(expected);
  });
});

describe('usesSubscriptions', () => {
  it.each<[SubscribeMode, resources: object | undefined, refuses: boolean, expected: boolean]>([
    ['announced', { subscribe: true }, false, true],
    ['announced', { subscribe: false }, false, false],
    ['announced', undefined, false, false],
    ['try', { subscribe: false }, false, true],
    ['try', {}, true, false],
    ['try', undefined, false, false],
    ['never', { subscribe: true }, false, false],
  ])('with subscribe: %s, resources: %j, refused: %j is %j', (mode, resources, refuses, expected) => {
    const link = new FakeLink({}, { capabilities: { ...(resources && { resources }) } });
    link.refusesSubscriptions = refuses;
    expect(usesSubscriptions(link, mode)).toBe(expected);
  });
});
