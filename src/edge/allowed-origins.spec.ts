import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { AllowedOrigins } from './origin.guard.js';

const LOOPBACK = { host: '127.0.0.1', allowedHosts: [], allowedOrigins: [] };

const allowing = (settings: Partial<ConstructorParameters<typeof AllowedOrigins>[0]> = {}): AllowedOrigins =>
  new AllowedOrigins({ ...LOOPBACK, ...settings });

describe('AllowedOrigins.allowsHost on loopback', () => {
  it.each([
    ['localhost', true],
    ['localhost:3000', true],
    ['LOCALHOST:3000', true],
    ['127.0.0.1', true],
    ['127.0.0.1:65535', true],
    ['[::1]', true],
    ['[::1]:3000', true],
    [undefined, false],
    ['', false],
    ['evil.test', false],
    ['localhost.', false],
    ['localhost.:3000', false],
    ['localhost.evil.test', false],
    ['evil.test:3000', false],
    ['evil.test#localhost', false],
    ['localhost@evil.test', false],
    ['user:pw@localhost', false],
    ['127.0.0.1.evil.test', false],
    ['127.0.0.2', false],
    ['127.1', false],
    ['2130706433', false],
    ['0.0.0.0', false],
    ['[::1].evil', false],
    ['[::1]evil:3000', false],
    ['[::]', false],
    ['::1', false],
    ['::1:3000', false],
    ['localhost:', false],
    ['localhost:3000:3000', false],
    ['localhost:123456', false],
    ['localhost:x', false],
    [' localhost', false],
    ['localhost, evil.test', false],
  ])('answers for the Host %j: %s', (host, expected) => {
    expect(allowing().allowsHost(host)).toBe(expected);
  });
});

describe('AllowedOrigins.allowsHost', () => {
  it.each([
    ['gw.example.com', 'gw.example.com', true],
    ['gw.example.com', 'gw.example.com:8443', true],
    ['gw.example.com', 'GW.Example.COM', true],
    ['GW.example.com', 'gw.example.com', true],
    ['gw.example.com', 'gw.example.com.', false],
    ['gw.example.com', 'a.gw.example.com', false],
    ['gw.example.com', 'gw.example.com.evil.test', false],
    ['gw.example.com:8443', 'gw.example.com:8443', true],
    ['gw.example.com:8443', 'gw.example.com', false],
    ['gw.example.com:8443', 'gw.example.com:8444', false],
    ['[fd00::1]', '[fd00::1]:3000', true],
    ['fd00::1', '[fd00::1]', true],
    ['fd00::1', '[FD00::1]:3000', true],
    ['fd00::1', '[fd00::2]', false],
    ['[fd00::1]:8443', '[fd00::1]:8443', true],
    ['[fd00::1]:8443', '[fd00::1]:8444', false],
  ])('with allowedHosts %j answers for %j: %s', (allowed, host, expected) => {
    expect(allowing({ allowedHosts: [allowed] }).allowsHost(host)).toBe(expected);
  });

  it.each([
    ['10.0.0.5', '10.0.0.5:3000', true],
    ['fd00::5', '[fd00::5]:3000', true],
    ['10.0.0.5', '10.0.0.6', false],
    ['0.0.0.0', '0.0.0.0:3000', false],
    ['0.0.0.0', '10.0.0.5:3000', false],
    ['::', '[::]:3000', false],
    ['0.0.0.0', 'localhost:3000', true],
  ])('of a gateway that listens on %s answers for %j: %s', (listening, host, expected) => {
    expect(allowing({ host: listening }).allowsHost(host)).toBe(expected);
  });

  it('refuses names that only contain an allowed name', () => {
    const part = fc.stringMatching(/^[a-z0-9.-]{1,20}$/);
    fc.assert(
      fc.property(fc.constantFrom('localhost', '127.0.0.1', '[::1]'), part, (name, rest) => {
        const origins = allowing();
        expect(origins.allowsHost(`${name}${rest}`)).toBe(false);
        expect(origins.allowsHost(`${rest}${name}`)).toBe(false);
        expect(origins.allowsOrigin(`http://${name}${rest}`)).toBe(false);
        expect(origins.allowsOrigin(`http://${rest}${name}`)).toBe(false);
      }),
    );
  });
});

describe('AllowedOrigins.allowsOrigin', () => {
  it.each([
    [undefined, true],
    ['http://localhost', true],
    ['http://localhost:5173', true],
    ['https://localhost:5173', true],
    ['HTTP://LOCALHOST:5173', true],
    ['http://127.0.0.1:8080', true],
    ['http://[::1]:8080', true],
    ['', false],
    ['null', false],
    ['*', false],
    ['localhost', false],
    ['//localhost', false],
    ['file://', false],
    ['file://localhost', false],
    ['ws://localhost', false],
    ['chrome-extension://localhost', false],
    ['http://evil.test', false],
    ['http://localhost.', false],
    ['http://localhost.evil.test', false],
    ['http://localhost.evil.test:3000', false],
    ['http://evil.test:3000', false],
    ['http://localhost@evil.test', false],
    ['http://evil.test@localhost', false],
    ['http://localhost:pw@evil.test', false],
    ['http://evil.test/localhost', false],
    ['http://localhost/', false],
    ['http://evil.test?localhost', false],
    ['http://evil.test#localhost', false],
    ['http://[::1].evil', false],
    ['http://[::1', false],
    ['http://127.0.0.1.evil.test', false],
    ['http://0.0.0.0:3000', false],
    ['http://localhost, http://evil.test', false],
    ['http://localhost\nhttp://evil.test', false],
  ])('without allowedOrigins answers for %j: %s', (origin, expected) => {
    expect(allowing().allowsOrigin(origin)).toBe(expected);
  });

  it.each([
    ['https://app.example.com', true],
    ['HTTPS://App.Example.com', true],
    ['https://app.example.com:8443', false],
    ['http://app.example.com', false],
    ['https://evil.app.example.com', false],
    ['https://app.example.com.evil.test', false],
  ])('with allowedOrigins https://app.example.com answers for %j: %s', (origin, expected) => {
    const origins = allowing({ allowedOrigins: ['https://app.example.com'] });
    expect(origins.allowsOrigin(origin)).toBe(expected);
    expect(origins.allowsOrigin('http://localhost:1')).toBe(true);
  });
});
