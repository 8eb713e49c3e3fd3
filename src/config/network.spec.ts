import { describe, expect, it } from '@jest/globals';
import { isNetwork, networksOf } from './network.js';

describe('isNetwork', () => {
  it.each(['10.0.0.0/8', '10.0.0.1', '0.0.0.0/0', 'fd00::/8', '::1', '::/0', '::1/128'])(
    'accepts %s',
    (text) => {
      expect(isNetwork(text)).toBe(true);
    },
  );

  it.each([
    '',
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0',
    'localhost',
    '10.0.0.0/',
    '/8',
    'fe80::1%eth0',
    '10.0.0.0/-1',
  ])('refuses %j', (text) => {
    expect(isNetwork(text)).toBe(false);
  });
});

describe('networksOf', () => {
  it('contains exactly the addresses of its networks', () => {
    const networks = networksOf(['10.1.0.0/16', '192.0.2.7', 'fd00::/8']);
    const check = (address: string): boolean =>
      networks.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
    expect(['10.1.255.255', '192.0.2.7', 'fd12::1'].map(check)).toEqual([true, true, true]);
    expect(['10.2.0.0', '192.0.2.8', 'fe80::1'].map(check)).toEqual([false, false, false]);
  });
});
