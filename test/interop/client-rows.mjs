// What a client of an SDK does through the gateway. Rows without `gateway: true` can also run directly against the server.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { until, within } from './waits.mjs';

const NOTE = 'note://one';
const OTHER_NOTE = 'note://two';
const LOG_CALLS = 20;
const ENDS = 10;
const IDLE_MS = 1500;

const updatesOf = (client, uri) => client.ofKind('updated').filter((one) => one.uri === uri).length;

/** Changes the resource and waits until the client has heard of it, exactly once. */
async function updatedOnce(client, { reference }, uri = NOTE) {
  const before = updatesOf(client, uri);
  await client.do('subscribe', { uri: OTHER_NOTE });
  const others = updatesOf(client, OTHER_NOTE);
  await reference.call('touch', { uri });
  await client.until(`an update of ${uri}`, () => updatesOf(client, uri) > before);
  await reference.call('touch', { uri: OTHER_NOTE });
  await client.until(`an update of ${OTHER_NOTE}`, () => updatesOf(client, OTHER_NOTE) > others);
  equal(updatesOf(client, uri), before + 1, 'updates of one change');
}

/** Restarts the gateway under two clients, one with a subscription; both must go on calling in the session they have. */
async function callsAfter(signal, { gateway, newClient, renewReference }) {
  const clients = [await newClient(), await newClient()];
  await clients[0].do('subscribe', { uri: NOTE });
  await clients[1].do('level', { level: 'info' });
  const before = await gateway.sessions();
  await gateway.restart(signal);
  for (const client of clients) equal((await client.call('echo', { text: 'again' })).text, 'again');
  const opened = (await gateway.sessions()).filter((id) => !before.includes(id));
  deepEqual(opened, [], 'sessions that were opened after the restart');
  await clients[1].call('log', { text: 'level kept' });
  await clients[1].until('the log message', (client) => client.ofKind('log').length > 0);
  await renewReference();
}

/**
 * The client that does nothing after the restart must hear one update because of it, and then every update. Clients of Python
 * give up when they are refused once after the time in `retry:`, so connections wait for a gateway that starts slowly.
 */
async function updatesAfter(signal, context) {
  const { url } = await context.newProxy();
  const client = await context.newClient(url);
  await client.do('subscribe', { uri: NOTE });
  await context.gateway.restart(signal);
  await client.until('the update after the restart', () => updatesOf(client, NOTE) > 0);
  await context.renewReference();
  await updatedOnce(client, context);
}

/** Ends the event stream of an idle client ten times; the client must open it again each time, in the same session. */
async function survivesTen(context, end) {
  const proxy = await context.newProxy();
  const client = await context.newClient(proxy.url);
  await client.do('subscribe', { uri: NOTE });
  for (let opened = 1; opened <= ENDS; opened++) {
    await until(`event stream ${opened}`, () => proxy.streams >= opened);
    // The client needs the head of the response, and what the stream begins with.
    await sleep(50);
    end(proxy);
  }
  await until('the last event stream', () => proxy.streams > ENDS);
  await updatedOnce(client, context);
  equal((await client.call('echo', { text: 'again' })).text, 'again');
  equal(proxy.initializations, 1, 'sessions');
}

export const CLIENT_ROWS = [
  {
    title: 'initialize, list and call tools',
    run: async ({ first }) => {
      const { names } = await first.do('tools');
      ok(names.includes('echo') && names.includes('sum'), `tools: ${names}`);
      equal((await first.call('echo', { text: 'grüße' })).text, 'grüße');
      await first.do('ping');
    },
  },
  {
    title: 'structured result',
    run: async ({ first }) => {
      const { structured } = await first.call('sum', { a: 2, b: 3 });
      deepEqual(structured, { sum: 5 });
    },
  },
  {
    title: 'unknown tool is an error',
    run: async ({ first }) => {
      const failed = await first.call('missing').then(
        ({ isError }) => isError,
        () => true,
      );
      ok(failed, 'a call of an unknown tool succeeded');
      equal((await first.call('echo', { text: 'after' })).text, 'after');
    },
  },
  {
    title: 'resources, templates, prompts',
    run: async ({ first }) => {
      deepEqual((await first.do('resources')).names, [NOTE]);
      deepEqual((await first.do('templates')).names, ['note://{name}']);
      deepEqual((await first.do('prompts')).names, ['greet']);
      equal((await first.do('read', { uri: 'note://three' })).text, 'content of note://three');
      equal((await first.do('prompt', { name: 'greet', arguments: { name: 'Ada' } })).text, 'Hello Ada');
    },
  },
  {
    title: 'names and URIs with the server id',
    gateway: true,
    run: async ({ newGateway, newClient }) => {
      const { url } = await newGateway({ naming: {} });
      const client = await newClient(url);
      const note = 'resource://interop/note://one';
      const { names } = await client.do('tools');
      ok(names.includes('interop__echo') && !names.includes('echo'), `tools: ${names}`);
      equal((await client.call('interop__echo', { text: 'grüße' })).text, 'grüße');
      deepEqual((await client.do('resources')).names, [note]);
      deepEqual((await client.do('templates')).names, ['resource://interop/note://{name}']);
      deepEqual((await client.do('prompts')).names, ['interop__greet']);
      equal((await client.do('read', { uri: note })).text, 'content of note://one');
      equal(
        (await client.do('prompt', { name: 'interop__greet', arguments: { name: 'Ada' } })).text,
        'Hello Ada',
      );
      await client.do('subscribe', { uri: note });
      await client.call('interop__touch', { uri: NOTE });
      await client.until('the update', () => updatesOf(client, note) > 0);
      equal(updatesOf(client, NOTE), 0, 'updates of the URI without the server id');
    },
  },
  {
    title: 'subscribe, one update per change',
    run: async (context) => {
      const { first, second } = context;
      await first.do('subscribe', { uri: NOTE });
      await updatedOnce(first, context);
      equal(updatesOf(second, NOTE), 0, 'updates of a client without a subscription');
      await first.do('unsubscribe', { uri: NOTE });
      const before = updatesOf(first, NOTE);
      await context.reference.call('touch', { uri: NOTE });
      const others = updatesOf(first, OTHER_NOTE);
      await context.reference.call('touch', { uri: OTHER_NOTE });
      await first.until('the other update', () => updatesOf(first, OTHER_NOTE) > others);
      equal(updatesOf(first, NOTE), before, 'updates after unsubscribe');
      await first.do('unsubscribe', { uri: OTHER_NOTE });
    },
  },
  {
    title: 'tools/list_changed',
    run: async ({ first, reference }) => {
      const before = first.ofKind('toolsChanged').length;
      await reference.call('grow');
      await first.until('list_changed', () => first.ofKind('toolsChanged').length > before);
      ok((await first.do('tools')).names.includes('extra'), 'the new tool is not listed');
      equal((await first.call('extra')).text, 'extra');
      await reference.call('grow');
      await first.until('list_changed', () => first.ofKind('toolsChanged').length > before + 1);
      ok(!(await first.do('tools')).names.includes('extra'), 'the removed tool is listed');
    },
  },
  {
    title: 'log messages of own calls only, two clients',
    run: async ({ first, second }) => {
      const clients = { a: first, b: second };
      for (const client of Object.values(clients)) await client.do('level', { level: 'info' });
      const of = (name) => clients[name].ofKind('log').filter(({ data }) => /^[ab]\d+$/.test(data));
      const calls = Object.entries(clients).map(async ([name, client]) => {
        for (let i = 0; i < LOG_CALLS; i++) await client.call('log', { text: `${name}${i}` });
      });
      await Promise.all(calls);
      for (const [name, client] of Object.entries(clients)) {
        await client.until(`${LOG_CALLS} log messages`, () => of(name).length >= LOG_CALLS);
        const own = Array.from({ length: LOG_CALLS }, (_, i) => `${name}${i}`);
        // Some SDKs handle notifications concurrently, so the order is not theirs to promise.
        deepEqual(
          of(name)
            .map(({ data }) => data)
            .toSorted(),
          own.toSorted(),
        );
      }
    },
  },
  {
    title: 'progress',
    run: async ({ first }) => {
      const before = first.ofKind('progress').length;
      await first.call('progress', { steps: 3 }, { progress: true });
      await first.until('three steps', () => first.ofKind('progress').length >= before + 3);
      const steps = first.ofKind('progress').slice(before);
      deepEqual(steps.map(({ progress }) => progress).toSorted(), [1, 2, 3]);
    },
  },
  {
    title: 'cancellation reaches the server',
    run: async ({ first, second, reference }) => {
      const before = Number((await reference.call('cancelled')).text);
      const { id } = first.send('call', { name: 'slow', arguments: { ms: 15_000 } });
      await sleep(300);
      await first.do('cancel', { call: id });
      for (let i = 0; i < 50; i++) {
        if (Number((await reference.call('cancelled')).text) > before) break;
        await sleep(100);
      }
      equal(Number((await reference.call('cancelled')).text), before + 1, 'cancelled calls at the server');
      equal((await second.call('echo', { text: 'alive' })).text, 'alive');
      equal((await first.call('echo', { text: 'alive' })).text, 'alive');
    },
  },
  {
    title: 'elicitation, two clients at once',
    run: async ({ first, second }) => {
      const answers = await Promise.all(
        [first, second].map((client) => client.call('ask', { question: 'Which?' })),
      );
      deepEqual(
        answers.map(({ text }) => text),
        ['accept:first', 'accept:second'],
      );
    },
  },
  {
    title: 'idle longer than the session limit',
    gateway: true,
    run: async ({ newGateway, newClient }) => {
      const gateway = await newGateway({ limits: { sessionIdleMs: IDLE_MS } });
      const client = await newClient(gateway.url);
      await sleep(3 * IDLE_MS);
      equal((await client.call('echo', { text: 'awake' })).text, 'awake');
      await gateway.stop();
    },
  },
  {
    title: 'ten event streams end',
    run: (context) => survivesTen(context, (proxy) => proxy.end()),
  },
  {
    title: 'ten connections are cut',
    run: (context) => survivesTen(context, (proxy) => proxy.cut()),
  },
  {
    title: 'graceful restart, calls go on',
    gateway: true,
    run: (context) => callsAfter('SIGTERM', context),
  },
  {
    title: 'graceful restart, updates go on',
    gateway: true,
    run: (context) => updatesAfter('SIGTERM', context),
  },
  {
    title: 'graceful restart, call in flight is answered',
    gateway: true,
    run: async ({ gateway, newClient, renewReference }) => {
      const client = await newClient();
      // A Python client lists the tools after its first call, which would meet a gateway that does not listen yet.
      await client.send('tools').answer;
      const { answer } = client.send('call', { name: 'slow', arguments: { ms: 1500 } });
      await sleep(300);
      await gateway.restart('SIGTERM');
      equal((await within('the answer', answer, 10_000)).text, 'slept');
      equal((await client.call('echo', { text: 'again' })).text, 'again');
      await renewReference();
    },
  },
  {
    title: 'kill -9, calls go on',
    gateway: true,
    run: (context) => callsAfter('SIGKILL', context),
  },
  {
    title: 'kill -9, updates go on',
    gateway: true,
    run: (context) => updatesAfter('SIGKILL', context),
  },
];
