import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { onCleanup } from '../../../test/kit/cleanup.js';
import { configOf } from '../../../test/kit/config.js';
import { flushPromises } from '../../../test/kit/promises.js';
import { ScriptedServer } from '../../../test/kit/scripted-server/scripted-server.js';
import { Limits } from '../../config/limits.js';
import { createLinkFactory } from './link-factory.js';
import type { Link } from './link.js';

type TimerFunction = 'setInterval' | 'setTimeout';
const TIME_FUNCTIONS = [
  'setInterval',
  'setTimeout',
  'setImmediate',
  'nextTick',
  'queueMicrotask',
  'Date',
] as const;

function fakeOnly(timer: TimerFunction): void {
  jest.useFakeTimers({ doNotFake: [...TIME_FUNCTIONS.filter((other) => other !== timer), 'performance'] });
}

async function connect(entry: object): Promise<Link> {
  const config = configOf({ mcpServers: { db: entry } }).mcpServers.get('db')!;
  const link = await createLinkFactory('db', config, new Limits())(new AbortController().signal);
  onCleanup(async () => {
    jest.useRealTimers();
    await link.close();
  });
  return link;
}

/** Polls without timers, because the tests fake them. Gives up after a number of attempts. */
async function until(condition: () => boolean): Promise<boolean> {
  for (let n = 0; n < 20_000 && !condition(); n++) await flushPromises();
  return condition();
}

describe('createLinkFactory, a link to a silent server', () => {
  afterEach(() => void jest.useRealTimers());

  it('over SSE pings the server every half minute', async () => {
    fakeOnly('setInterval');
    const server = await ScriptedServer.start();
    await connect(server.sse);
    jest.advanceTimersByTime(60_000);
    expect(await until(() => server.countOf('ping') === 1)).toBe(true);
  });

  it('over Streamable HTTP pings the server when its stream was silent for a minute and a half', async () => {
    fakeOnly('setTimeout');
    const server = await ScriptedServer.start();
    const link = await connect(server.http);
    await link.notificationsReady;
    jest.advanceTimersByTime(89_000);
    await flushPromises();
    expect(server.countOf('ping')).toBe(0);
    jest.advanceTimersByTime(1000);
    expect(await until(() => server.countOf('ping') === 1)).toBe(true);
  });

  it('over stdio does not ping the server', async () => {
    fakeOnly('setInterval');
    const server = await ScriptedServer.start();
    await connect(server.stdio());
    jest.advanceTimersByTime(600_000);
    await flushPromises();
    expect(server.countOf('ping')).toBe(0);
  });
});
