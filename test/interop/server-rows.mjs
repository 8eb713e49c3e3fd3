// What a server of an SDK does behind the gateway, used by two clients of the reference SDK. `modes` are the modes in which
// the row applies: a server in stateless mode cannot send anything but answers. `needs` names a member of the SDK with the
// modes that have what the row is about.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from './waits.mjs';

const NOTE = 'note://one';
const LOG_CALLS = 20;
const CALLS_AT_ONCE = 20;
const CUTS = 3;
/** An idle session ends after IDLE_MS; without a request, the gateway sends a ping after two intervals at most. */
const IDLE_MS = 3_500;
const KEEP_ALIVE_MS = 1_000;
/** Somewhat longer than the gateway counts a cancelled call as in flight. */
const CANCELLED_CALL_MS = 1_200;
/** How long a deploy may stay unnoticed after the server has started: the gateway tries every 5 s, then fetches the lists. */
const NOTICED_MS = 15_000;
const CONVERSING = ['http', 'stdio'];

const updatesOf = (client) => client.ofKind('updated').filter(({ uri }) => uri === NOTE).length;
/** FastMCP sends the text of a message as a member. */
const heard = (client) => client.ofKind('log').map(({ data }) => data.msg ?? data);
const lists = async (client, tool) => (await client.do('tools')).names.includes(tool);

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
    title: 'calls of two clients at once',
    run: async ({ first, second }) => {
      const calls = Object.entries({ a: first, b: second }).flatMap(([name, client]) =>
        Array.from({ length: CALLS_AT_ONCE }, async (_, i) => {
          const text = `${name}${i}`;
          equal((await client.call('echo', { text })).text, text);
        }),
      );
      await Promise.all(calls);
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
    title: 'three connections of the event stream are cut',
    modes: ['http'],
    gateway: true,
    run: async ({ program, newProxy, newGateway, newClient }) => {
      const proxy = await newProxy(program.url);
      const { url } = await newGateway({ url: proxy.url });
      const [client, other] = [await newClient(url), await newClient(url)];
      await client.do('subscribe', { uri: NOTE });
      const changed = async () => {
        const before = updatesOf(client);
        await other.call('touch', { uri: NOTE });
        await client.until('an update', () => updatesOf(client) > before);
      };
      for (let cuts = 1; cuts <= CUTS; cuts++) {
        await until(`event stream ${cuts}`, () => proxy.streams >= cuts);
        await changed();
        proxy.cut();
      }
      await until('the last event stream', () => proxy.streams > CUTS);
      await changed();
      equal(proxy.initializations, 1, 'sessions');
    },
  },
  {
    title: 'idle session is kept alive',
    needs: 'idleLimitModes',
    gateway: true,
    run: async ({ newServer, newProxy, newGateway, newClient }) => {
      const server = await newServer({ INTEROP_IDLE_MS: String(IDLE_MS) });
      const proxy = await newProxy(server.url);
      const gateway = await newGateway({ url: proxy.url, keepAliveMs: KEEP_ALIVE_MS });
      const client = await newClient(gateway.url);
      equal((await client.call('echo', { text: 'first' })).text, 'first');
      await sleep(2.5 * IDLE_MS);
      equal((await client.call('echo', { text: 'again' })).text, 'again');
      equal(proxy.initializations, 1, 'sessions');
    },
  },
  {
    title: 'isolation: session, own capabilities and list',
    modes: ['http', 'json', 'stdio'],
    gateway: true,
    run: async ({ newGateway, newClient, mode }) => {
      const { url } = await newGateway({ isolation: 'session' });
      const asking = await newClient(url);
      const rooted = await newClient(url, { capabilities: { roots: {} } });
      equal((await asking.call('capabilities')).text, 'elicitation');
      equal((await rooted.call('capabilities')).text, 'roots');
      if (mode !== 'stdio') return;
      // Each client has a process of its own, whose list only that client sees. One that has listed is told of changes.
      for (const client of [asking, rooted]) ok(!(await lists(client, 'extra')), 'extra is listed');
      await asking.call('grow');
      await asking.until('list_changed', () => asking.ofKind('toolsChanged').length > 0);
      ok(await lists(asking, 'extra'), 'the new tool is not listed');
      ok(!(await lists(rooted, 'extra')), 'the tool of another process is listed');
    },
  },
  {
    title: 'deploy that adds a tool is noticed',
    modes: ['http', 'json', 'stateless'],
    run: async ({ first, deploy }) => {
      await deploy({ INTEROP_EXTRA: '1' });
      await until('the new tool is listed', () => lists(first, 'extra'), NOTICED_MS);
      equal((await first.call('extra')).text, 'extra');
      await deploy({ INTEROP_EXTRA: '0' });
      await until('the tool is gone', async () => !(await lists(first, 'extra')), NOTICED_MS);
      equal((await first.call('echo', { text: 'again' })).text, 'again');
    },
  },
];
