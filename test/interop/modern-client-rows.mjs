// What a client of revision 2026-07-28 does. Rows without `gateway: true` can also run directly against the server.
import { deepEqual, equal, ok } from 'node:assert/strict';
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

/**
 * Restarts the gateway under two clients, which must go on calling, without a session. The one that listens hears nothing
 * until its program listens again, and then every update.
 */
async function goOnAfter(signal, context) {
  const { gateway } = context;
  const clients = [await context.newClient(), await context.newClient()];
  const [listening] = clients;
  await listening.do('listen', { uris: [NOTE, OTHER_NOTE] });
  const before = await gateway.sessions();
  await gateway.restart(signal);
  for (const client of clients) equal((await client.call('echo', { text: 'again' })).text, 'again');
  const opened = (await gateway.sessions()).filter((id) => !before.includes(id));
  deepEqual(opened, [], 'sessions that were opened after the restart');
  await context.renewReference();
  await context.reference.call('touch', { uri: NOTE });
  await listening.do('listen', { uris: [NOTE, OTHER_NOTE] });
  await updatedOnce(listening, context);
  equal(updatesOf(listening, NOTE), 1, 'updates after the restart');
}

async function listenEnds(signal, withResult, { gateway, newClient, renewReference }) {
  const client = await newClient();
  await client.do('listen', { uris: [NOTE] });
  await gateway.restart(signal);
  await client.until('the end of the stream', () => client.ofKind('listenEnded').length > 0);
  deepEqual(client.ofKind('listenEnded'), [{ event: 'listenEnded', withResult }]);
  await renewReference();
}

export const MODERN_CLIENT_ROWS = [
  {
    title: 'discover, list and call tools',
    run: async ({ first }) => {
      const { names } = await first.do('tools');
      ok(names.includes('echo') && names.includes('sum'), `tools: ${names}`);
      equal((await first.call('echo', { text: 'grüße' })).text, 'grüße');
    },
  },
  STRUCTURED_RESULT,
  UNKNOWN_TOOL,
  RESOURCES_AND_PROMPTS,
  namesWithServerId((client, uri) => client.do('listen', { uris: [uri] })),
  {
    title: 'listen, one update per change',
    run: async (context) => {
      const { first, second } = context;
      await first.do('listen', { uris: [NOTE, OTHER_NOTE] });
      await updatedOnce(first, context);
      equal(updatesOf(second, NOTE), 0, 'updates of a client that does not listen');
      await first.do('unlisten');
      await first.do('listen', { uris: [OTHER_NOTE] });
      await updatedNoMore(first, context);
      await first.do('unlisten');
    },
  },
  {
    title: 'listen, tools/list_changed',
    run: async (context) => {
      await context.first.do('listen', { tools: true });
      await toolsChangeTwice(context);
      await context.first.do('unlisten');
    },
  },
  {
    title: 'log messages at the level of the call, two clients',
    run: async (context) => {
      await ownLogMessages(context, { level: 'info' });
      const { first } = context;
      const before = first.ofKind('log').length;
      await first.call('log', { text: 'below the level' }, { level: 'error' });
      await first.call('log', { text: 'at the level' }, { level: 'info' });
      await first.until('the message at the level', () => first.ofKind('log').length > before);
      const heard = first.ofKind('log').slice(before);
      deepEqual(
        heard.map(({ data }) => data),
        ['at the level'],
      );
    },
  },
  PROGRESS,
  CANCELLATION,
  ELICITATION,
  {
    title: 'graceful restart, calls go on, listening again',
    gateway: true,
    run: (context) => goOnAfter('SIGTERM', context),
  },
  {
    title: 'graceful restart, the stream ends with a result',
    gateway: true,
    run: (context) => listenEnds('SIGTERM', true, context),
  },
  CALL_DURING_RESTART,
  {
    title: 'kill -9, calls go on, listening again',
    gateway: true,
    run: (context) => goOnAfter('SIGKILL', context),
  },
  {
    title: 'kill -9, the stream ends without a result',
    gateway: true,
    run: (context) => listenEnds('SIGKILL', false, context),
  },
];
