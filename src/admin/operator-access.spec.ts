import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { HttpSettings } from '../config/http-settings.js';
import { ClientAddresses } from '../edge/client-addresses.js';
import { Metrics } from '../metrics/metrics.js';
import { MetricsSettings } from '../config/metrics-settings.js';
import { AdminTokens } from './admin-tokens.js';
import { FailedTokens } from './failed-tokens.js';
import { OperatorAccess } from './operator-access.js';

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
  it.each<[string | undefined, IncomingHttpHeaders, boolean]>([
    ['127.0.0.1', {}, true],
    ['127.8.8.8', {}, true],
    ['::1', {}, true],
    ['::ffff:127.0.0.1', {}, true],
    ['10.0.0.7', {}, false],
    ['::ffff:10.0.0.7', {}, false],
    [undefined, {}, false],
    ['127.0.0.1', { 'x-forwarded-for': '127.0.0.1' }, false],
    ['127.0.0.1', { forwarded: 'for=127.0.0.1' }, false],
    ['10.0.0.7', { 'x-forwarded-for': '127.0.0.1' }, false],
    ['10.0.0.7', { authorization: 'Bearer a-token-of-the-admin' }, true],
    ['10.0.0.7', { authorization: 'Bearer a-token-of-the-viewer' }, true],
    ['10.0.0.7', { authorization: 'Bearer a-token-of-a-client' }, false],
  ])('allows %s with %j: %s', async (address, headers, allowed) => {
    expect(await access().allows(request(address, headers))).toBe(allowed);
    expect(await access(true).allows(request(address, headers))).toBe(true);
  });
});
