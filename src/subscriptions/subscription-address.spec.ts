import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeServer } from '../../test/kit/fake-server.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { only } from '../../test/kit/offers.js';
import { SubscriptionHarness } from '../../test/kit/subscription-harness.js';
import { EVERYTHING } from '../core/scope.js';

describe('ResourceView.findSubscribable', () => {
  let harness: SubscriptionHarness;

  beforeEach(async () => {
    recordLog();
    const db = new FakeServer(['mcp://users/1', 'mcp://users/2', 'shared://x']);
    db.templates = ['mcp://{table}/{id}'];
    const files = new FakeServer(['file:///logs/app.log', 'shared://x', 'ui://panel']);
    harness = await SubscriptionHarness.open({ db, files });
  });

  const find = (text: string, scope = EVERYTHING): string | undefined => {
    const address = harness.registry.catalog.resources.view(scope).findSubscribable(text);
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
  ])('finds the resource of %s', (text, address) => {
    expect(find(text)).toBe(address);
  });

  it.each([
    ['mcp://{table}/{id}', 'db mcp://{table}/{id}'],
    ['resource://db/mcp://{table}/{id}', 'db mcp://{table}/{id}'],
    ['db_mcp___{table}_{id}', 'db mcp://{table}/{id}'],
  ])('finds the template of %s', (text, address) => {
    expect(find(text)).toBe(address);
  });

  it.each([
    ['resource://files/file:///logs/*', 'files file:///logs/*'],
    ['file:///logs/*', 'files file:///logs/*'],
    ['resource://files/*', 'files *'],
    ['resource://db/mcp://users/*', 'db mcp://users/*'],
    ['resource://db/mcp://orders/*', 'db mcp://orders/*'],
    ['mcp://*', 'db mcp://*'],
    ['ui://files/*', 'files ui://*'],
  ])('finds the prefix of %s', (text, address) => {
    expect(find(text)).toBe(address);
  });

  it.each([
    ['', 'is empty'],
    ['*', 'matches several servers'],
    ['shared://x', 'is a URI of two servers'],
    ['shared://*', 'is a prefix at two servers'],
    ['file:///nope', 'is not listed'],
    ['file:///nope/*', 'is a prefix of no listed URI'],
    ['resource://files/nope://*', 'is a prefix of no URI of that server'],
    ['resource://nope/*', 'names an unknown server'],
    ['{table}', 'is not a listed template'],
  ])('finds nothing for "%s", which %s', (text) => {
    expect(find(text)).toBeUndefined();
  });

  it('finds only resources in scope, so that a URI of two servers may be unambiguous', () => {
    expect(find('resource://files/*', only('db'))).toBeUndefined();
    expect(find('file:///logs/app.log', only('db'))).toBeUndefined();
    expect(find('shared://x', only('db'))).toBe('db shared://x');
    expect(find('*', only('files'))).toBe('files *');
  });
});
