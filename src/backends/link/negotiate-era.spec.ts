import { describe, expect, it } from '@jest/globals';
import { refusalOf } from '../../../test/kit/promises.js';
import { GatewayError, RemoteError } from '../../core/errors.js';
import { EraRecord, MAX_VERDICT_AGE_MS } from './era-record.js';
import { negotiateEra, type Opening } from './negotiate-era.js';
import { TransportError } from './transport.js';

const remote = (code: number, supported: string[]): RemoteError =>
  new RemoteError(code, 'no', JSON.stringify({ code, message: 'no', data: { supported } }));
const OFFER = remote(-32022, ['2026-07-28']);
const UNKNOWN_METHOD = remote(-32601, []);
const NOT_OFFERED = expect.objectContaining({
  message: 'the server does not offer MCP revision 2026-07-28: no',
  cause: UNKNOWN_METHOD,
});
const NO_ANSWER = new GatewayError('timeout', 'no answer');

interface Server {
  /** The error of each step; without one it succeeds. */
  readonly initialize?: Error;
  readonly discover?: Error;
}

async function open(
  opening: Opening,
  { initialize, discover }: Server,
  record = new EraRecord(),
  trustsRecord = false,
) {
  const steps: string[] = [];
  const step = (name: string, error: Error | undefined) => async (timeoutMs?: number) => {
    steps.push(timeoutMs === undefined ? name : `${name} ${timeoutMs}`);
    if (error) throw error;
  };
  const run = { initialize: step('initialize', initialize), discover: step('discover', discover) };
  const options = { opening, connectTimeoutMs: 60_000, record, trustsRecord };
  const era = negotiateEra({ ...run, initialize: () => run.initialize() }, options);
  return { outcome: await era.catch((error: unknown) => error), steps };
}

describe('negotiateEra', () => {
  it.each<[Opening, Server, unknown, string[]]>([
    ['initialize', {}, '2025', ['initialize']],
    ['initialize', { initialize: OFFER }, OFFER, ['initialize']],
    ['discover', {}, '2026', ['discover 60000']],
    ['discover', { discover: UNKNOWN_METHOD }, NOT_OFFERED, ['discover 60000']],
    ['discover', { discover: NO_ANSWER }, NO_ANSWER, ['discover 60000']],
    ['initialize-first', {}, '2025', ['initialize']],
    ['initialize-first', { initialize: OFFER }, '2026', ['initialize', 'discover 60000']],
    ['initialize-first', { initialize: UNKNOWN_METHOD }, UNKNOWN_METHOD, ['initialize']],
    ['initialize-first', { initialize: NO_ANSWER }, NO_ANSWER, ['initialize']],
    ['probe', {}, '2026', ['discover 5000']],
    ['probe', { discover: UNKNOWN_METHOD }, '2025', ['discover 5000', 'initialize']],
    ['probe', { discover: NO_ANSWER }, '2025', ['discover 5000', 'initialize']],
    ['probe', { discover: OFFER }, OFFER, ['discover 5000']],
  ])('by %s with %o ends with %o', async (opening, server, outcome, steps) => {
    expect(await open(opening, server)).toEqual({ outcome, steps });
  });

  it('does not initialize a server that cannot be reached', async () => {
    const discover = new TransportError('unreachable', 'cannot connect');
    expect(await open('probe', { discover })).toEqual({ outcome: discover, steps: ['discover 5000'] });
  });

  it('does not initialize a server that spoke 2026 a short time ago and gives no verdict now', async () => {
    const record = new EraRecord();
    record.set('2026');
    const discover = new TransportError('refused', 'HTTP 503', { httpStatus: 503 });
    expect(await open('probe', { discover }, record)).toEqual({
      outcome: discover,
      steps: ['discover 5000'],
    });
  });

  it('initializes a server that was reached, gives no verdict, and was not found to speak an era before', async () => {
    const discover = new TransportError('refused', 'HTTP 503', { httpStatus: 503 });
    expect((await open('probe', { discover })).outcome).toBe('2025');
  });

  it('initializes a server that answers the probe as a server of 2025, although it spoke 2026 before', async () => {
    const record = new EraRecord();
    record.set('2026');
    expect((await open('probe', { discover: UNKNOWN_METHOD }, record)).outcome).toBe('2025');
  });

  it('probes again for every shared link', async () => {
    const record = new EraRecord();
    record.set('2025');
    expect((await open('probe', {}, record)).outcome).toBe('2026');
  });

  it('does not probe for the link of a session while a verdict of 2025 is recent', async () => {
    const record = new EraRecord();
    record.set('2025');
    expect(await open('probe', {}, record, true)).toEqual({ outcome: '2025', steps: ['initialize'] });
    record.set('2025', Date.now() - MAX_VERDICT_AGE_MS);
    expect((await open('probe', {}, record, true)).outcome).toBe('2026');
  });

  it('probes for the link of a session of a server that spoke 2026 a short time ago', async () => {
    const record = new EraRecord();
    record.set('2026');
    expect(await open('probe', {}, record, true)).toEqual({ outcome: '2026', steps: ['discover 5000'] });
  });

  it('probes half of a short connect timeout', async () => {
    const discovered: number[] = [];
    const steps = {
      initialize: () => Promise.reject(new Error('not reached')),
      discover: (timeoutMs: number) => Promise.resolve(void discovered.push(timeoutMs)),
    };
    const record = new EraRecord();
    await negotiateEra(steps, { opening: 'probe', connectTimeoutMs: 300, record, trustsRecord: false });
    expect(discovered).toEqual([150]);
  });

  it('fails with the error of initialize', async () => {
    const initialize = new TransportError('refused', 'HTTP 405', { httpStatus: 405 });
    const steps = {
      initialize: () => Promise.reject(initialize),
      discover: () => Promise.reject(UNKNOWN_METHOD),
    };
    const options = { opening: 'probe', connectTimeoutMs: 100, record: new EraRecord(), trustsRecord: false };
    expect(await refusalOf(negotiateEra(steps, options as Parameters<typeof negotiateEra>[1]))).toBe(
      initialize,
    );
  });
});

describe('EraRecord', () => {
  it('keeps when the era was found first', () => {
    const record = new EraRecord();
    expect(record.set('2025', 1000)).toEqual({ name: '2025', since: 1000 });
    expect(record.set('2025', 2000)).toEqual({ name: '2025', since: 1000 });
    expect(record.set('2026', 3000)).toEqual({ name: '2026', since: 3000 });
  });

  it('is recent for ten minutes after the last probe', () => {
    const record = new EraRecord();
    expect(record.recent()).toBeUndefined();
    record.set('2025', 1000);
    record.set('2025', 2000);
    expect(record.recent(601_999)).toBe('2025');
    expect(record.recent(602_000)).toBeUndefined();
  });
});
