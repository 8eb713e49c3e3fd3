// What a client does in the same way in both eras.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { within } from './waits.mjs';

export const NOTE = 'note://one';
export const OTHER_NOTE = 'note://two';
const LOG_CALLS = 20;

export const updatesOf = (client, uri) => client.ofKind('updated').filter((one) => one.uri === uri).length;

/** Changes the resource and waits until the client, which waits for updates of both, has heard of it, exactly once. */
export async function updatedOnce(client, { reference }) {
  const before = updatesOf(client, NOTE);
  const others = updatesOf(client, OTHER_NOTE);
  await reference.call('touch', { uri: NOTE });
  await client.until(`an update of ${NOTE}`, () => updatesOf(client, NOTE) > before);
  await reference.call('touch', { uri: OTHER_NOTE });
  await client.until(`an update of ${OTHER_NOTE}`, () => updatesOf(client, OTHER_NOTE) > others);
  equal(updatesOf(client, NOTE), before + 1, 'updates of one change');
}

/** Changes both resources; the client hears of the second only. */
export async function updatedNoMore(client, { reference }) {
  const before = updatesOf(client, NOTE);
  const others = updatesOf(client, OTHER_NOTE);
  await reference.call('touch', { uri: NOTE });
  await reference.call('touch', { uri: OTHER_NOTE });
  await client.until('the other update', () => updatesOf(client, OTHER_NOTE) > others);
  equal(updatesOf(client, NOTE), before, 'updates that are not wanted any more');
}

/** Adds a tool and removes it; the client hears of both. */
export async function toolsChangeTwice({ first, reference }) {
  const before = first.ofKind('toolsChanged').length;
  await reference.call('grow');
  await first.until('list_changed', () => first.ofKind('toolsChanged').length > before);
  ok((await first.do('tools')).names.includes('extra'), 'the new tool is not listed');
  equal((await first.call('extra')).text, 'extra');
  await reference.call('grow');
  await first.until('list_changed', () => first.ofKind('toolsChanged').length > before + 1);
  ok(!(await first.do('tools')).names.includes('extra'), 'the removed tool is listed');
}

/** Both clients call at once; each gets the log messages of its own calls. */
export async function ownLogMessages({ first, second }, options) {
  const clients = { a: first, b: second };
  const of = (name) => clients[name].ofKind('log').filter(({ data }) => /^[ab]\d+$/.test(data));
  const calls = Object.entries(clients).map(async ([name, client]) => {
    for (let i = 0; i < LOG_CALLS; i++) await client.call('log', { text: `${name}${i}` }, options);
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
}

/** A row about public names; `watch` makes a client wait for updates of a URI. */
export const namesWithServerId = (watch) => ({
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
    const greeting = await client.do('prompt', { name: 'interop__greet', arguments: { name: 'Ada' } });
    equal(greeting.text, 'Hello Ada');
    await watch(client, note);
    await client.call('interop__touch', { uri: NOTE });
    await client.until('the update', () => updatesOf(client, note) > 0);
    equal(updatesOf(client, NOTE), 0, 'updates of the URI without the server id');
  },
});

export const STRUCTURED_RESULT = {
  title: 'structured result',
  run: async ({ first }) => {
    const { structured } = await first.call('sum', { a: 2, b: 3 });
    deepEqual(structured, { sum: 5 });
  },
};

export const UNKNOWN_TOOL = {
  title: 'unknown tool is an error',
  run: async ({ first }) => {
    const failed = await first.call('missing').then(
      ({ isError }) => isError,
      () => true,
    );
    ok(failed, 'a call of an unknown tool succeeded');
    equal((await first.call('echo', { text: 'after' })).text, 'after');
  },
};

export const RESOURCES_AND_PROMPTS = {
  title: 'resources, templates, prompts',
  run: async ({ first }) => {
    deepEqual((await first.do('resources')).names, [NOTE]);
    deepEqual((await first.do('templates')).names, ['note://{name}']);
    deepEqual((await first.do('prompts')).names, ['greet']);
    equal((await first.do('read', { uri: 'note://three' })).text, 'content of note://three');
    equal((await first.do('prompt', { name: 'greet', arguments: { name: 'Ada' } })).text, 'Hello Ada');
  },
};

export const PROGRESS = {
  title: 'progress',
  run: async ({ first }) => {
    const before = first.ofKind('progress').length;
    await first.call('progress', { steps: 3 }, { progress: true });
    await first.until('three steps', () => first.ofKind('progress').length >= before + 3);
    const steps = first.ofKind('progress').slice(before);
    deepEqual(steps.map(({ progress }) => progress).toSorted(), [1, 2, 3]);
  },
};

export const CANCELLATION = {
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
};

export const ELICITATION = {
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
};

export const CALL_DURING_RESTART = {
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
};
