import { describe, expect, it } from '@jest/globals';
import { createListens, listenRequest } from '../../test/kit/listens.js';
import type { LinkOwner } from '../mcp/mcp-context.js';
import { NotificationRecipients } from './notification-recipients.js';

const owner = (id: string): LinkOwner => ({ id }) as Partial<LinkOwner> as LinkOwner;

describe('NotificationRecipients', () => {
  it('finds the open listen streams of an owner of links', () => {
    const recipients = new NotificationRecipients();
    const listens = createListens(recipients);
    const [first, second, other] = ['alice', 'alice', 'bob'].map((linkOwnerId) =>
      listens.create(listenRequest({ linkOwnerId }), ['tools']),
    );
    listens.create(listenRequest(), ['tools']);
    expect(recipients.ofLinkOwner(owner('alice'))).toEqual([first, second]);
    expect(recipients.ofLinkOwner(owner('bob'))).toEqual([other]);
    first!.finish();
    expect(recipients.ofLinkOwner(owner('alice'))).toEqual([second]);
    second!.finish();
    expect(recipients.ofLinkOwner(owner('alice'))).toEqual([]);
  });
});
