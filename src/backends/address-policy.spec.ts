import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { promises as dns } from 'node:dns';
import { describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { onCleanup } from '../../test/kit/cleanup.js';
import { refusalOf } from '../../test/kit/promises.js';
import { AdminSettings } from '../config/admin-settings.js';
import { HttpSettings } from '../config/http-settings.js';
import { Limits } from '../config/limits.js';
import { readServer } from '../config/read-server.js';
import { Metrics } from '../metrics/metrics.js';
import { AddressPolicy } from './address-policy.js';
import { createLinkFactory } from './link/link-factory.js';
import { StreamableHttpTransport } from './http/streamable-http-transport.js';

const policy = (host: string, allowedNetworks: string[] = [], metrics = new Metrics()): AddressPolicy =>
  new AddressPolicy(
    Object.assign(new AdminSettings(), { allowedNetworks }),
    Object.assign(new HttpSettings(), { host }),
    metrics,
  );
const remote = policy('0.0.0.0');
const local = policy('127.0.0.1');

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;

async function served(): Promise<{ port: number; requests: () => number }> {
  let requests = 0;
  const server: Server = createServer((_request, response) => {
    requests++;
    response.writeHead(405).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onCleanup(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, requests: () => requests };
}

function transportTo(url: string, addresses: AddressPolicy): StreamableHttpTransport {
  const transport = new StreamableHttpTransport(
    { url },
    { egress: { createConnector: addresses.createConnector } },
  );
  onCleanup(() => transport.close());
  return transport;
}

describe('AddressPolicy', () => {
  it.each([
    '169.254.169.254',
    '169.254.0.1',
    '0.0.0.0',
    '0.1.2.3',
    '224.0.0.1',
    '255.255.255.255',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd20:ce::254',
    '::',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    'ff02::1',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::169.254.169.254',
    '64:ff9b::169.254.169.254',
    '64:ff9b:1::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '2001:0:1:2:3:4:5601:5601',
    '2001:db8::5efe:169.254.169.254',
    '::ffff:0:169.254.169.254',
    'not an address',
    '',
  ])('refuses %s with all settings', (address) => {
    const everything = policy('127.0.0.1', ['0.0.0.0/0', '::/0']);
    expect([local, remote, everything].map((some) => some.allows(address))).toEqual([false, false, false]);
  });

  it.each(['203.0.113.7', '8.8.8.8', '2001:db8::1', '2606:4700::1', '64:ff9b::8.8.8.8', '2002:808:808::1'])(
    'allows the public address %s with all settings',
    (address) => {
      const none = policy('127.0.0.1', ['192.0.2.1']);
      expect([local, remote, none].map((some) => some.allows(address))).toEqual([true, true, true]);
    },
  );

  it.each([
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '100.64.0.1',
    'fd12::1',
    '::ffff:10.1.2.3',
    '2002:a01:203::1',
  ])('allows the private address %s unless allowedNetworks leaves it out', (address) => {
    const listed = policy('0.0.0.0', [
      '10.1.0.0/16',
      '172.16.0.0/12',
      '192.168.1.1',
      '100.64.0.0/10',
      'fd00::/8',
    ]);
    const other = policy('0.0.0.0', ['10.2.0.0/16']);
    expect([local, remote, listed, other].map((some) => some.allows(address))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  it.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '64:ff9b::127.0.0.1'])(
    'allows the loopback address %s to a gateway on loopback, or with allowedNetworks',
    (address) => {
      const listed = policy('0.0.0.0', ['127.0.0.0/8', '::1']);
      const other = policy('127.0.0.1', ['10.0.0.0/8']);
      expect([local, remote, listed, other].map((some) => some.allows(address))).toEqual([
        true,
        false,
        true,
        false,
      ]);
    },
  );

  it('allows an IPv4 address exactly if it allows the mapped form', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(remote.allows(`::ffff:${address}`)).toBe(remote.allows(address));
      }),
    );
  });

  it.each([
    ['http://2130706433/', false],
    ['http://0x7f.1/mcp', false],
    ['http://localhost:3000/', false],
    ['http://[::1]/', false],
    ['http://[::ffff:169.254.169.254]/', false],
    ['http://10.0.0.1/', true],
    ['http://name.invalid/', true],
  ])('decides about the host of %s: %s', async (url, allowed) => {
    expect(await remote.allowsHost(new URL(url))).toBe(allowed);
  });

  it('refuses a host if one of its addresses is refused', async () => {
    const found = [
      { address: '203.0.113.7', family: 4 },
      { address: '169.254.169.254', family: 4 },
    ];
    jest.spyOn(dns, 'lookup').mockResolvedValueOnce(found as never);
    expect(await remote.allowsHost(new URL('http://rebind.example/'))).toBe(false);
  });

  describe('on a connection', () => {
    it.each(['127.0.0.1', 'localhost'])(
      'opens no socket to %s, neither for POST nor for GET',
      async (host) => {
        const { port, requests } = await served();
        const transport = transportTo(`http://${host}:${port}/`, remote);
        const error = await refusalOf(transport.send(PING));
        expect(error).toMatchObject({ fault: 'unreachable', message: 'cannot connect: refused by policy' });
        const failed = new Promise<Error>((resolve) =>
          transport.sendGet('', {
            onRequestStart: () => {},
            onResponseError: (_controller, cause) => resolve(cause),
          }),
        );
        expect((await failed).message).toBe('refused by policy');
        expect(requests()).toBe(0);
      },
    );

    it.each(['http', 'sse'] as const)('refuses a link over %s', async (type) => {
      const { port, requests } = await served();
      const config = readServer('x', { url: `http://localhost:${port}/`, type });
      const connect = createLinkFactory('x', config, new Limits(), { addresses: () => remote });
      const error = await refusalOf(connect(new AbortController().signal));
      expect(error.message).toContain('refused by policy');
      expect(error.message).not.toContain('127.0.0.1');
      expect(requests()).toBe(0);
    });

    it('counts what it refuses, when the address is sent and when it is connected', async () => {
      const counted = new Metrics();
      const counting = policy('0.0.0.0', [], counted);
      await counting.allowsHost(new URL('http://10.0.0.1/'));
      await counting.allowsHost(new URL('http://169.254.169.254/'));
      for (const host of ['127.0.0.1', 'localhost'])
        await refusalOf(transportTo(`http://${host}:9/`, counting).send(PING));
      const text = await counted.text();
      expect(text).toContain('gatehouse_address_refusals_total{at="change"} 1\n');
      expect(text).toContain('gatehouse_address_refusals_total{at="connect"} 2\n');
    });

    it('connects to an allowed address and name', async () => {
      const { port, requests } = await served();
      for (const host of ['127.0.0.1', 'localhost'])
        await refusalOf(transportTo(`http://${host}:${port}/`, local).send(PING));
      expect(requests()).toBe(2);
    });
  });
});
