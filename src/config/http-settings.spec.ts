import { describe, expect, it } from '@jest/globals';
import { readConfig } from './load-config.js';
import { isLoopback } from './loopback.js';

const read = (http: string) => readConfig({ text: `http: { ${http} }`, source: 'g.yaml', env: {} }).http;

describe('http', () => {
  it.each(['127.0.0.1', '"::1"', 'localhost', '127.9.9.9'])('accepts the loopback address %s', (host) => {
    expect(() => read(`host: ${host}`)).not.toThrow();
  });

  it.each(['0.0.0.0', '"::"', '10.0.0.1', 'gatehouse.example.com', '127.0.0.1.example.com'])(
    'refuses to listen on %s without authentication, and names the setting that allows it',
    (host) => {
      expect(() => read(`host: ${host}`)).toThrow(/http\.host: .*set http\.allowRemoteWithoutAuth: true/);
    },
  );

  it('accepts any address with allowRemoteWithoutAuth', () => {
    expect(read('host: 0.0.0.0, allowRemoteWithoutAuth: true').host).toBe('0.0.0.0');
  });

  it.each(['https://app.example.com', 'http://localhost:5173', 'vscode-webview://1a2b'])(
    'accepts the origin %s',
    (origin) => {
      expect(read(`allowedOrigins: ["${origin}"]`).allowedOrigins).toEqual([origin]);
    },
  );

  it.each(['https://app.example.com/', 'app.example.com', '*', 'https://a b', ''])(
    'refuses the origin %j, which no browser sends',
    (origin) => {
      expect(() => read(`allowedOrigins: ["${origin}"]`)).toThrow('http.allowedOrigins: every item must be');
    },
  );

  it.each(['10.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '::1', 'fd00::/8', '::ffff:10.0.0.1'])(
    'takes %s for a trusted proxy',
    (network) => {
      expect(read(`trustedProxies: ["${network}"]`).trustedProxies).toEqual([network]);
    },
  );

  it.each([
    '',
    'proxy.example.com',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    'fd00::/129',
    '10.0/8',
  ])('does not take %j for a trusted proxy', (network) => {
    expect(() => read(`trustedProxies: ["${network}"]`)).toThrow(
      'http.trustedProxies: every item must be an IP address or a network',
    );
  });

  it.each(['http://a', 'a/b', ''])('refuses the host %j', (host) => {
    expect(() => read(`allowedHosts: ["${host}"]`)).toThrow('http.allowedHosts: every item must be');
  });
});

describe('isLoopback', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.255.255.254', true],
    ['::1', true],
    ['0:0:0:0:0:0:0:1', true],
    ['::ffff:127.0.0.1', true],
    ['LocalHost', true],
    ['128.0.0.1', false],
    ['::ffff:10.0.0.1', false],
    ['::', false],
    ['127.1', false],
    ['localhost.example.com', false],
    ['', false],
  ])('of %s is %s', (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
  });
});
