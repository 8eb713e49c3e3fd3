// What a client of 2025 does through the gateway. Rows without `gateway: true` can also run directly against the server.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CALL_DURING_RESTART,
  CANCELLATION,
  ELICITATION,
  namesWithServerId,
  NOTE,
  OTHER_NOTE,
  ownLogMessages,
  PROGRESS,
  RESOURCES_AND_PROMPTS,
  STRUCTURED_RESULT,
  toolsChangeTwice,
  UNKNOWN_TOOL,
  updatedNoMore,
  updatedOnce,
  updatesOf,
} from './common-client-rows.mjs';
import { until } from './waits.mjs';

const ENDS = 10;
const IDLE_MS = 1500;

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
  await client.do('subscribe', { uri: OTHER_NOTE });
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
  await client.do('subscribe', { uri: OTHER_NOTE });
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
  STRUCTURED_RESULT,
  UNKNOWN_TOOL,
  RESOURCES_AND_PROMPTS,
  namesWithServerId((client, uri) => client.do('subscribe', { uri })),
  {
    title: 'subscribe, one update per change',
    run: async (context) => {
      const { first, second } = context;
      await first.do('subscribe', { uri: NOTE });
      await first.do('subscribe', { uri: OTHER_NOTE });
      await updatedOnce(first, context);
      equal(updatesOf(second, NOTE), 0, 'updates of a client without a subscription');
      await first.do('unsubscribe', { uri: NOTE });
      await updatedNoMore(first, context);
      await first.do('unsubscribe', { uri: OTHER_NOTE });
    },
  },
  { title: 'tools/list_changed', run: toolsChangeTwice },
  {
    title: 'log messages of own calls only, two clients',
    run: async (context) => {
      for (const client of [context.first, context.second]) await client.do('level', { level: 'info' });
      await ownLogMessages(context);
    },
  },
  PROGRESS,
  CANCELLATION,
  ELICITATION,
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
  CALL_DURING_RESTART,
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
