import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeServer } from '../../test/kit/fake-server.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { only } from '../../test/kit/offers.js';
import { SubscriptionHarness } from '../../test/kit/subscription-harness.js';
import { EVERYTHING } from '../core/scope.js';
import { findSubscriptionAddress } from './subscription-address.js';

describe('what a client means by a text', () => {
  let harness: SubscriptionHarness;

  beforeEach(async () => {
    recordLog();
    const db = new FakeServer(['mcp://users/1', 'mcp://users/2', 'shared://x']);
    db.templates = ['mcp://{table}/{id}'];
    const files = new FakeServer(['file:///logs/app.log', 'shared://x', 'ui://panel']);
    harness = await SubscriptionHarness.open({ db, files });
  });

  const meant = (text: string, scope = EVERYTHING): string | undefined => {
    const address = findSubscriptionAddress(harness.registry.catalog.resources.view(scope), text);
    return address && `${address.server} ${address.uri}`;
  };

  it.each([
    ['resource://files/file:///logs/app.log', 'files file:///logs/app.log'],
    ['file:///logs/app.log', 'files file:///logs/app.log'],
    ['files_file___logs_app.log', 'files file:///logs/app.log'],
    ['ui://files/panel', 'files ui://panel'],
    ['resource://db/mcp://orders/7', 'db mcp://orders/7'],
    ['mcp://orders/7', 'db mcp://orders/7'],
    ['resource://db/shared://x', 'db shared://x'],
  ])('%s is a resource', (text, address) => {
    expect(meant(text)).toBe(address);
  });

  it.each([
    ['mcp://{table}/{id}', 'db mcp://{table}/{id}'],
    ['resource://db/mcp://{table}/{id}', 'db mcp://{table}/{id}'],
    ['db_mcp___{table}_{id}', 'db mcp://{table}/{id}'],
  ])('%s is a template', (text, address) => {
    expect(meant(text)).toBe(address);
  });

  it.each([
    ['resource://files/file:///logs/*', 'files file:///logs/*'],
    ['file:///logs/*', 'files file:///logs/*'],
    ['resource://files/*', 'files *'],
    ['resource://db/mcp://users/*', 'db mcp://users/*'],
    ['resource://db/mcp://orders/*', 'db mcp://orders/*'],
    ['mcp://*', 'db mcp://*'],
    ['ui://files/*', 'files ui://*'],
  ])('%s is all that begins so', (text, address) => {
    expect(meant(text)).toBe(address);
  });

  it.each([
    ['', 'is empty'],
    ['*', 'may be any of several servers'],
    ['shared://x', 'is of two servers'],
    ['shared://*', 'is of two servers'],
    ['file:///nope', 'is in no list'],
    ['file:///nope/*', 'begins like nothing in a list'],
    ['resource://files/nope://*', 'begins like nothing in that list'],
    ['resource://nope/*', 'names no server'],
    ['{table}', 'is no template of anybody'],
  ])('"%s" is nothing: it %s', (text) => {
    expect(meant(text)).toBeUndefined();
  });

  it('is nothing out of scope, and may be one thing where more scope would make it several', () => {
    expect(meant('resource://files/*', only('db'))).toBeUndefined();
    expect(meant('file:///logs/app.log', only('db'))).toBeUndefined();
    expect(meant('shared://x', only('db'))).toBe('db shared://x');
    expect(meant('*', only('files'))).toBe('files *');
  });
});
