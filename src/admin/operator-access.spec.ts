import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { HttpSettings } from '../config/http-settings.js';
import { ClientAddresses } from '../edge/client-addresses.js';
import { Metrics } from '../metrics/metrics.js';
import { MetricsSettings } from '../config/metrics-settings.js';
import { AdminTokens } from './admin-tokens.js';
import { FailedTokens } from './failed-tokens.js';
import { OperatorAccess, type AccessCheckResult } from './operator-access.js';

const tokens = new AdminTokens('a-token-of-the-admin', 'a-token-of-the-viewer');
const access = (isPublic = false): OperatorAccess =>
  new OperatorAccess(
    tokens,
    Object.assign(new MetricsSettings(), { public: isPublic }),
    new FailedTokens(new Metrics(new Registry()), new ClientAddresses(new HttpSettings())),
  );

const request = (remoteAddress: string | undefined, headers: IncomingHttpHeaders = {}) => ({
  headers,
  socket: { remoteAddress },
});

describe('OperatorAccess', () => {
  it.each<[string | undefined, IncomingHttpHeaders, AccessCheckResult]>([
    ['127.0.0.1', {}, 'allowed'],
    ['127.8.8.8', {}, 'allowed'],
    ['::1', {}, 'allowed'],
    ['::ffff:127.0.0.1', {}, 'allowed'],
    ['10.0.0.7', {}, 'no-token'],
    ['::ffff:10.0.0.7', {}, 'no-token'],
    [undefined, {}, 'no-token'],
    ['127.0.0.1', { 'x-forwarded-for': '127.0.0.1' }, 'no-token'],
    ['127.0.0.1', { forwarded: 'for=127.0.0.1' }, 'no-token'],
    ['10.0.0.7', { 'x-forwarded-for': '127.0.0.1' }, 'no-token'],
    ['10.0.0.7', { authorization: 'Bearer a-token-of-the-admin' }, 'allowed'],
    ['10.0.0.7', { authorization: 'Bearer a-token-of-the-viewer' }, 'allowed'],
    ['10.0.0.7', { authorization: 'Bearer a-token-of-a-client' }, 'invalid-token'],
  ])('decides on %s with %j: %s', async (address, headers, decision) => {
    expect(await access().check(request(address, headers))).toBe(decision);
    expect(await access(true).check(request(address, headers))).toBe('allowed');
  });
});
