import { describe, expect, it } from '@jest/globals';
import { EgressProxies } from './egress-proxies.js';

const HTTP = 'http://plain-proxy:3128/';
const HTTPS = 'http://secure-proxy:3128/';
const proxyFor = (url: string, noProxy = '', own?: string): string | undefined =>
  new EgressProxies({ HTTP_PROXY: HTTP, HTTPS_PROXY: HTTPS, NO_PROXY: noProxy }).for(new URL(url), own)?.href;

describe('EgressProxies', () => {
  it('selects the proxy of the protocol, or that of the server', () => {
    expect(proxyFor('http://a.example/')).toBe(HTTP);
    expect(proxyFor('https://a.example/')).toBe(HTTPS);
    expect(proxyFor('https://a.example/', '*', 'http://own:1')).toBe('http://own:1/');
    expect(new EgressProxies({}).for(new URL('https://a.example/'))).toBeUndefined();
  });

  it.each(['http://127.0.0.1/', 'http://127.9.9.9:80/', 'http://localhost/', 'https://[::1]/'])(
    'selects no proxy for loopback: %s',
    (url) => {
      expect(proxyFor(url)).toBeUndefined();
      expect(proxyFor(url, '', 'http://own:1')).toBeUndefined();
    },
  );

  it.each([
    ['*', 'http://a.example/'],
    ['example.com', 'https://example.com/'],
    ['example.com', 'https://api.EXAMPLE.com/'],
    ['.example.com', 'https://api.example.com/'],
    ['*.example.com', 'https://api.example.com/'],
    ['a.example:8443', 'https://a.example:8443/'],
    ['a.example:443', 'https://a.example/'],
    ['10.0.0.0/8, fd00::/8', 'http://10.1.2.3/'],
    ['fd00::/8', 'http://[fd00::1]/'],
    ['192.0.2.7', 'http://192.0.2.7/'],
  ])('selects no proxy when NO_PROXY is %s for %s', (noProxy, url) => {
    expect(proxyFor(url, noProxy)).toBeUndefined();
  });

  it.each([
    ['example.com', 'https://notexample.com/'],
    ['a.example:8443', 'https://a.example/'],
    ['10.0.0.0/8', 'http://11.1.2.3/'],
  ])('selects a proxy when NO_PROXY is %s for %s', (noProxy, url) => {
    expect(proxyFor(url, noProxy)).toBeDefined();
  });

  it('prefers names in lower case, accepts a proxy without scheme and ignores empty values', () => {
    const proxies = new EgressProxies({ http_proxy: 'low:1', HTTP_PROXY: HTTP, HTTPS_PROXY: '' });
    expect(proxies.for(new URL('http://a.example/'))?.href).toBe('http://low:1/');
    expect(proxies.for(new URL('https://a.example/'))).toBeUndefined();
  });

  it.each(['socks5://proxy:1080', 'http://', 'http://a b'])('refuses %s', (value) => {
    expect(() => new EgressProxies({ HTTPS_PROXY: value })).toThrow('HTTPS_PROXY must be');
  });
});
