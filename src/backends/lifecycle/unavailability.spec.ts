import { describe, expect, it } from '@jest/globals';
import { GatewayError, type UnavailableReason } from '../../core/errors.js';
import type { FailureCause } from '../link/failure-cause.js';
import { brokenError } from '../link/link-errors.js';
import { ConnectError } from '../link/link.js';
import { TransportError } from '../link/transport.js';
import { initialStatus, type ConnectionStatus } from './connection-state.js';
import { causeOf, unavailableErrorOf } from './unavailability.js';

const NOW = 1_000_000;

const status = (values: Partial<ConnectionStatus>): ConnectionStatus => ({
  ...initialStatus(NOW, 'http'),
  ...values,
});

const dataOf = (values: Partial<ConnectionStatus>): unknown =>
  unavailableErrorOf('db', status(values), NOW)?.data;

const exited = new TransportError('broken', 'exited with code 1', { hasExited: true });
const notFound = new TransportError('unreachable', 'cannot start', { spawnCode: 'ENOENT' });
const http = (httpStatus: number): Error =>
  new ConnectError(new TransportError('refused', 'HTTP', { httpStatus }), []);

describe('unavailableErrorOf', () => {
  it.each<[UnavailableReason, string, Partial<ConnectionStatus>]>([
    ['starting', 'the first link is being opened', { state: 'connecting' }],
    ['unresponsive', 'requests time out', { state: 'unresponsive', error: new Error('it does not answer') }],
    [
      'unresponsive',
      'initialize timed out',
      { state: 'retrying', error: new GatewayError('timeout', 'late') },
    ],
    ['crashed', 'the process has ended', { state: 'retrying', error: exited }],
    ['crashed', 'the next process is being started', { state: 'connecting', error: exited }],
    [
      'crashed',
      'the process ended at its start',
      { state: 'crash-loop', error: new ConnectError(exited, []) },
    ],
    ['unreachable', 'no connection', { state: 'retrying', error: new TransportError('unreachable', 'no') }],
    ['unreachable', 'an unknown error', { state: 'retrying', error: new Error('no') }],
    ['unauthorized', 'HTTP 401', { state: 'retrying', error: http(401) }],
    ['unauthorized', 'HTTP 403', { state: 'retrying', error: http(403) }],
    ['unreachable', 'HTTP 404', { state: 'retrying', error: http(404) }],
    ['unreachable', 'HTTP 500', { state: 'retrying', error: http(500) }],
    ['unreachable', 'a lost connection', { state: 'retrying', error: brokenError('lost') }],
    ['unreachable', 'a missing command', { state: 'retrying', error: new ConnectError(notFound, []) }],
    ['unresponsive', 'a full stdin', { state: 'retrying', error: new TransportError('busy', 'x') }],
    [
      'crashed',
      'a request of a lost process',
      { state: 'retrying', error: brokenError('x', { cause: exited }) },
    ],
    [
      'crashed',
      'a process that was killed because of a long line',
      { state: 'retrying', error: new TransportError('too-large', 'x', { hasExited: true }) },
    ],
    [
      'unreachable',
      'a long message over HTTP',
      { state: 'retrying', error: new TransportError('too-large', 'x') },
    ],
    ['disabled', 'the connection was stopped', { state: 'stopped' }],
  ])('has the reason %s for: %s', (reason, _what, values) => {
    expect(dataOf(values)).toEqual({ code: 'SERVER_UNAVAILABLE', server: 'db', reason, retryAfterMs: 1000 });
  });

  it('contains neither the address, nor the command, nor the output of the server', () => {
    for (const message of ['getaddrinfo ENOTFOUND db.internal', 'cannot start "/opt/db"', 'Error: secret']) {
      const error = unavailableErrorOf('db', status({ state: 'retrying', error: new Error(message) }), NOW);
      expect(error?.message).toBe('SERVER_UNAVAILABLE: server db is not available: it cannot be reached');
      expect(JSON.stringify(error?.data)).not.toContain(message);
    }
  });

  it.each([
    [30_000, 30_000],
    [0, 100],
  ])('says to come back at the next attempt, in %i ms', (delay, retryAfterMs) => {
    expect(dataOf({ state: 'retrying', since: NOW - 9, nextAttemptAt: NOW + delay })).toMatchObject({
      retryAfterMs,
    });
  });

  it('is undefined while the server is ready or its session is renewed', () => {
    const error = new TransportError('session-expired', 'unknown session');
    expect(dataOf({ state: 'ready' })).toBeUndefined();
    expect(dataOf({ state: 'connecting', error })).toBeUndefined();
  });
});

describe('causeOf', () => {
  it.each<[FailureCause | undefined, Partial<ConnectionStatus>]>([
    [undefined, { state: 'connecting' }],
    ['not-found', { state: 'retrying', error: http(404) }],
    ['not-found', { state: 'crash-loop', error: new ConnectError(notFound, []) }],
    [
      'unreachable',
      { state: 'retrying', error: new TransportError('session-expired', 'x', { httpStatus: 404 }) },
    ],
    ['unauthorized', { state: 'retrying', error: http(401) }],
    ['crashed', { state: 'crash-loop', error: new ConnectError(exited, []) }],
    ['unresponsive', { state: 'unresponsive', error: new Error('it does not answer') }],
  ])('is %s for %j', (cause, values) => {
    expect(causeOf(status(values))).toBe(cause);
  });
});
