// What a server of an SDK does behind the gateway, used by two clients of the reference SDK. `modes` are the modes in which
// the row applies: a server in stateless mode cannot send anything but answers.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

const NOTE = 'note://one';
const LOG_CALLS = 20;
/** Somewhat longer than the gateway counts a cancelled call as in flight. */
const CANCELLED_CALL_MS = 1_200;
const CONVERSING = ['http', 'stdio'];

const updatesOf = (client) => client.ofKind('updated').filter(({ uri }) => uri === NOTE).length;
const heard = (client) => client.ofKind('log').map(({ data }) => data);
const lists = async (client, tool) => (await client.do('tools')).names.includes(tool);

async function until(what, condition, ms = 15_000) {
  const deadline = Date.now() + ms;
  while (Date.now() < deadline) {
    if (await condition()) return;
    await sleep(100);
  }
  throw new Error(`${what}: not within ${ms} ms`);
}

export const SERVER_ROWS = [
  {
    title: 'list and call tools, structured result',
    run: async ({ first }) => {
      for (const tool of ['echo', 'sum', 'slow', 'grow'])
        ok(await lists(first, tool), `${tool} is not listed`);
      equal((await first.call('echo', { text: 'grüße' })).text, 'grüße');
      deepEqual((await first.call('sum', { a: 2, b: 3 })).structured, { sum: 5 });
    },
  },
  {
    title: 'resources, templates, prompts',
    run: async ({ first }) => {
      deepEqual((await first.do('resources')).names, [NOTE]);
      deepEqual((await first.do('templates')).names, ['note://{name}']);
      equal((await first.do('read', { uri: NOTE })).text, `content of ${NOTE}`);
      equal((await first.do('read', { uri: 'note://three' })).text, 'content of note://three');
      equal((await first.do('prompt', { name: 'greet', arguments: { name: 'Ada' } })).text, 'Hello Ada');
    },
  },
  {
    title: 'log message of a call reaches its caller only',
    modes: ['http', 'json', 'stdio'],
    run: async ({ first, second, mode, sdk }) => {
      await first.do('level', { level: 'info' });
      await second.do('level', { level: 'info' });
      for (let i = 0; i < LOG_CALLS; i++) {
        await first.call('log', { text: `a${i}` });
        await second.call('echo', { text: 'b' });
      }
      const own = Array.from({ length: LOG_CALLS }, (_, i) => `a${i}`);
      // A message on the stream that all clients share is dropped when its client is not known.
      if (!sdk.logsOnSharedStream?.includes(mode)) {
        await first.until('the log messages', () => heard(first).length >= LOG_CALLS);
        deepEqual(heard(first), own);
      }
      await sleep(200);
      deepEqual(heard(second), [], 'messages of a call of another client');
    },
  },
  {
    title: 'progress',
    modes: CONVERSING,
    run: async ({ first }) => {
      await first.call('progress', { steps: 3 }, { progress: true });
      await first.until('three steps', () => first.ofKind('progress').length >= 3);
      deepEqual(
        first.ofKind('progress').map(({ progress }) => progress),
        [1, 2, 3],
      );
    },
  },
  {
    title: 'cancellation reaches the server',
    modes: CONVERSING,
    run: async ({ first, second }) => {
      const { id } = first.send('call', { name: 'slow', arguments: { ms: 15_000 } });
      await sleep(300);
      await first.do('cancel', { call: id });
      await until('the cancellation', async () => (await second.call('cancelled')).text === '1', 5_000);
      equal((await first.call('echo', { text: 'alive' })).text, 'alive');
      // A server that never answers a cancelled call: until then a request of the server could belong to that call.
      await sleep(CANCELLED_CALL_MS);
    },
  },
  {
    title: 'elicitation',
    modes: CONVERSING,
    run: async ({ first, second }) => {
      equal((await first.call('ask', { question: 'Which?' })).text, 'accept:first');
      equal((await second.call('ask', { question: 'Which?' })).text, 'accept:second');
    },
  },
  {
    title: 'subscribe, one update per change',
    modes: CONVERSING,
    run: async ({ first, second }) => {
      await first.do('subscribe', { uri: NOTE });
      await second.call('touch', { uri: NOTE });
      await first.until('an update', () => updatesOf(first) > 0);
      await second.call('touch', { uri: NOTE });
      await first.until('the second update', () => updatesOf(first) > 1);
      await sleep(200);
      equal(updatesOf(first), 2, 'updates of two changes');
      equal(updatesOf(second), 0, 'updates of a client without a subscription');
    },
  },
  {
    title: 'tools/list_changed',
    modes: CONVERSING,
    run: async ({ first, second }) => {
      await second.call('grow');
      await first.until('list_changed', () => first.ofKind('toolsChanged').length > 0);
      ok(await lists(first, 'extra'), 'the new tool is not listed');
      equal((await first.call('extra')).text, 'extra');
      await second.call('grow');
      await until('the tool is gone', async () => !(await lists(first, 'extra')));
    },
  },
  {
    title: 'deploy that adds a tool is noticed',
    modes: ['http', 'json', 'stateless'],
    run: async ({ first, deploy }) => {
      await deploy({ INTEROP_EXTRA: '1' });
      await until('the new tool is listed', () => lists(first, 'extra'));
      equal((await first.call('extra')).text, 'extra');
      await deploy({ INTEROP_EXTRA: '0' });
      await until('the tool is gone', async () => !(await lists(first, 'extra')));
      equal((await first.call('echo', { text: 'again' })).text, 'again');
    },
  },
];
