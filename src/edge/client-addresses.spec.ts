import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { HttpSettings } from '../config/http-settings.js';
import { ClientAddresses } from './client-addresses.js';

const addresses = (...trustedProxies: string[]): ClientAddresses =>
  new ClientAddresses(Object.assign(new HttpSettings(), { trustedProxies }));

const request = (remoteAddress: string | undefined, forwarded?: string): IncomingMessage =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

describe('ClientAddresses', () => {
  it('ignores X-Forwarded-For without trusted proxies', () => {
    expect(addresses().quotaKeyOf(request('10.0.0.1', '192.0.2.7'))).toBe('address 10.0.0.1');
  });

  it('ignores X-Forwarded-For of a peer that is not a trusted proxy', () => {
    expect(addresses('10.0.0.0/8').quotaKeyOf(request('192.0.2.9', '10.0.0.5'))).toBe('address 192.0.2.9');
  });

  it.each([
    ['the address that the proxy added', '192.0.2.7', '192.0.2.7'],
    ['the right-most address that is not a proxy', '203.0.113.1, 192.0.2.7, 10.0.0.2', '192.0.2.7'],
    ['not what a client wrote to the left of it', '127.0.0.1, 192.0.2.7', '192.0.2.7'],
    ['the left-most address when all are proxies', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['the proxy when the header is absent', undefined, '10.0.0.1'],
    ['the proxy when the header is empty', '', '10.0.0.1'],
    ['the proxy before text that is not an address', '192.0.2.7, unknown, 10.0.0.2', '10.0.0.2'],
    ['an address without its port', '192.0.2.7:4711', '192.0.2.7'],
    ['an IPv6 address in brackets', '[2001:db8:0:1::7]:4711', '2001:db8:0:1::/64'],
  ])('behind a trusted proxy takes %s', (_what, forwarded, expected) => {
    expect(addresses('10.0.0.0/8').quotaKeyOf(request('10.0.0.1', forwarded))).toBe(`address ${expected}`);
  });

  it('reads a bounded number of addresses', () => {
    const forwarded = `192.0.2.7, ${Array(2000).fill('10.0.0.2').join(', ')}`;
    expect(addresses('10.0.0.0/8').quotaKeyOf(request('10.0.0.1', forwarded))).toBe('address 10.0.0.2');
  });

  it.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    [undefined, ''],
  ])('counts %s as %s', (remote, expected) => {
    expect(addresses().quotaKeyOf(request(remote))).toBe(`address ${expected}`);
  });

  it('trusts an IPv4 proxy also on a dual-stack socket', () => {
    const key = addresses('10.0.0.0/8').quotaKeyOf(request('::ffff:10.0.0.1', '192.0.2.7'));
    expect(key).toBe('address 192.0.2.7');
  });

  it('has no key for a proxy before its first request', () => {
    const { socket } = request('10.0.0.1');
    expect(addresses('10.0.0.1').quotaKeyOfPeer(socket)).toBeUndefined();
    expect(addresses().quotaKeyOfPeer(socket)).toBe('address 10.0.0.1');
  });
});
