import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, jest } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { Events } from '../../test/kit/events.js';
import { flushPromises } from '../../test/kit/promises.js';
import { bodyOf } from '../../test/kit/http.js';
import { until, within } from '../../test/kit/until.js';
import { SharedJson } from '../lib/json-text/json-text.js';
import { ReplayBuffer } from './replay-buffer.js';
import { revisionOf, type Revision } from '../mcp/revisions/revision.js';
import { Limits } from '../config/limits.js';
import { UnreadResponses } from './unread-responses.js';
import { EventStream } from './event-stream.js';
import { Exchange, type ExchangeSession } from './exchange.js';

/** A session with streams only. */
class SessionStub implements ExchangeSession {
  readonly buffer = new ReplayBuffer(100, 100_000);
  readonly opened: EventStream[] = [];
  readonly unread = new UnreadResponses(new Limits(), { quotaKey: 'principal' });
  readonly ended: EventStream[] = [];
  readonly streams = {
    open: (): EventStream => {
      const stream = new EventStream(`s${this.opened.length}`, this.buffer, {
        queuedEvents: 100,
        stuckMs: 1000,
      });
      this.opened.push(stream);
      return stream;
    },
    removeIfDone: (stream: EventStream): void => void this.ended.push(stream),
  };

  constructor(readonly revision: Revision) {}
}

/** Both ends of a POST. */
class Post {
  readonly session: SessionStub;
  readonly exchange: Exchange;

  private constructor(
    readonly response: ServerResponse,
    private readonly answer: Promise<IncomingMessage>,
    readonly disconnect: () => void,
    { unanswered = 1, isBatch = false, primes = false },
  ) {
    this.session = new SessionStub(revisionOf(primes ? '2025-11-25' : '2025-06-18')!);
    this.exchange = new Exchange(response, this.session, isBatch ? undefined : 1, unanswered);
  }

  static async make(
    options: { unanswered?: number; isBatch?: boolean; primes?: boolean } = {},
  ): Promise<Post> {
    const server = createServer((_request, response) => server.emit('posted', response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const posted = within('the POST', once(server, 'posted'));
    const { port } = server.address() as AddressInfo;
    const outgoing = request({ port, host: '127.0.0.1', method: 'POST' });
    const answer = new Promise<IncomingMessage>((resolve, reject) =>
      outgoing.once('response', resolve).once('error', reject),
    );
    answer.catch(() => {});
    outgoing.end();
    onCleanup(() => {
      outgoing.destroy();
      server.close();
      server.closeAllConnections();
    });
    const [response] = (await posted) as [ServerResponse];
    return new Post(response, answer, () => outgoing.destroy(), options);
  }

  /** Closes the connection and waits until the server has noticed it. */
  async loseConnection(): Promise<void> {
    this.disconnect();
    await until('the server has noticed', () => this.response.destroyed);
  }

  async json(): Promise<{ type: string | undefined; body: string }> {
    const answer = await within('an answer', this.answer);
    return { type: answer.headers['content-type'], body: await within('the body', bodyOf(answer)) };
  }

  async events(): Promise<Events> {
    const answer = await within('an answer', this.answer);
    const type = answer.headers['content-type'];
    if (type !== 'text/event-stream') throw new Error(`the answer is ${type}`);
    return new Events(answer);
  }
}

const PAGE = new SharedJson('{ "tools":["ä"] }');

const data = (events: Events): string[] => events.all.map((event) => event.data);

describe('Exchange with a JSON response', () => {
  it('writes the message unchanged', async () => {
    const post = await Post.make({ primes: true });
    post.exchange.answer('{ "n":1.0 }');
    expect(await post.json()).toEqual({ type: 'application/json', body: '{ "n":1.0 }' });
    expect(post.session.opened).toEqual([]);
    expect(post.exchange.isAnswered).toBe(true);
  });

  it('answers a batch after its last request, in the order of the answers', async () => {
    const post = await Post.make({ unanswered: 2, isBatch: true });
    post.exchange.answer('{"id":2}');
    expect(post.response.headersSent).toBe(false);
    expect(post.exchange.isAnswered).toBe(false);
    post.exchange.answer('{"id":1}');
    expect((await post.json()).body).toBe('[{"id":2},{"id":1}]');
  });

  it('answers a batch of one request with an array', async () => {
    const post = await Post.make({ isBatch: true });
    post.exchange.answer('{"id":2}');
    expect((await post.json()).body).toBe('[{"id":2}]');
  });

  it('writes nothing when the client is disconnected', async () => {
    const post = await Post.make();
    await post.loseConnection();
    post.exchange.answer('{}');
    await flushPromises();
    expect(post.response.headersSent).toBe(false);
  });

  it('writes nothing when the client disconnects before the write', async () => {
    for (const answer of [(on: Exchange) => on.answer('{}'), (on: Exchange) => on.answerShared(1, PAGE)]) {
      const post = await Post.make();
      answer(post.exchange);
      post.response.destroy();
      await flushPromises();
      expect(post.response.headersSent).toBe(false);
    }
  });

  it.each([1, 'é\u2028"'])('writes a shared result for the request id %j', async (id) => {
    const post = await Post.make();
    void post.exchange.answerShared(id, PAGE);
    expect(post.exchange.isAnswered).toBe(true);
    expect((await post.json()).body).toBe(
      `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${PAGE.text}}`,
    );
  });

  it('writes a shared result in a batch', async () => {
    const post = await Post.make({ unanswered: 2, isBatch: true });
    void post.exchange.answerShared(1, PAGE);
    post.exchange.answer('{"id":2}');
    expect((await post.json()).body).toBe(`[{"jsonrpc":"2.0","id":1,"result":${PAGE.text}},{"id":2}]`);
  });
});

describe('Exchange with a long result', () => {
  const long = new SharedJson(`[${'\n"漢",\r'.repeat(200_000)}\n1]`);
  const oneLine = { jsonrpc: '2.0', id: 1, result: JSON.parse(long.text) as unknown };

  it('replaces the line breaks in slices, and sends the result after messages that came meanwhile', async () => {
    const post = await Post.make();
    post.exchange.send('{"n":1}');
    const answered = post.exchange.answerShared(1, long);
    expect([post.exchange.isAnswered, answered]).toEqual([false, expect.any(Promise)]);
    post.exchange.send('{"n":2}');
    await answered;
    expect(post.exchange.isAnswered).toBe(true);
    const events = await post.events();
    await events.untilEnded();
    expect(data(events).slice(0, 2)).toEqual(['{"n":1}', '{"n":2}']);
    expect(JSON.parse(data(events)[2]!)).toEqual(oneLine);
    const sequences = events.all.map(({ id }) => Number.parseInt(id!, 10));
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
  });

  it('is one answer of a batch, and an event if the batch becomes a stream meanwhile', async () => {
    const batch = await Post.make({ unanswered: 2, isBatch: true });
    const answered = batch.exchange.answerShared(1, long);
    batch.exchange.answer('{"id":2}');
    await answered;
    expect(JSON.parse((await batch.json()).body)).toEqual([{ id: 2 }, oneLine]);
    const post = await Post.make({ unanswered: 2, isBatch: true });
    const meanwhile = post.exchange.answerShared(1, long);
    post.exchange.answer('{"id":2}');
    post.exchange.keepAlive();
    await meanwhile;
    const events = await post.events();
    await events.untilEnded();
    expect(data(events).map((text) => JSON.parse(text) as unknown)).toEqual([{ id: 2 }, oneLine]);
  });

  it('is counted as unread until it is written', async () => {
    const post = await Post.make({ unanswered: 2, isBatch: true });
    const added = jest.spyOn(post.session.unread, 'add');
    await post.exchange.answerShared(1, long);
    const size =
      Buffer.byteLength(JSON.stringify({ jsonrpc: '2.0', id: 1, result: 0 })) - 1 + long.bytes.length;
    expect(added.mock.calls).toEqual([[size]]);
    post.exchange.answer('{}');
    await post.json();
    expect(added.mock.calls.slice(0, 3)).toEqual([[size], [2], [-size - 2]]);
  });
});

describe('Exchange with a stream', () => {
  it('sends messages before the result and ends with the result', async () => {
    const post = await Post.make();
    post.exchange.send('{"n":1}');
    post.exchange.send('{"n":2}');
    post.exchange.answer('{"n":3}');
    const events = await post.events();
    await events.untilEnded();
    expect(data(events)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
    expect(events.all.every(({ id }) => id?.endsWith('.s0'))).toBe(true);
    expect(post.session.ended).toEqual(post.session.opened);
  });

  it('begins with the opening events of the revision', async () => {
    const post = await Post.make({ primes: true });
    post.exchange.send('{"n":1}');
    post.exchange.answer('{"n":2}');
    const events = await post.events();
    await events.untilEnded();
    expect(data(events)).toEqual(['', '{"n":1}', '{"n":2}']);
    expect(events.all[0]?.id).toMatch(/^\d+\.s0$/);
  });

  it('sends nothing after the result', async () => {
    const post = await Post.make();
    post.exchange.answer('{"n":1}');
    post.exchange.send('{"n":2}');
    post.exchange.keepAlive();
    expect((await post.json()).body).toBe('{"n":1}');
    expect(post.session.opened).toEqual([]);
  });

  it('begins with earlier answers of a batch and ends with the last one', async () => {
    const post = await Post.make({ unanswered: 3, isBatch: true });
    post.exchange.answer('{"id":1}');
    post.exchange.send('{"progress":1}');
    post.exchange.answer('{"id":2}');
    post.exchange.send('{"progress":2}');
    post.exchange.answer('{"id":3}');
    const events = await post.events();
    await events.untilEnded();
    expect(data(events)).toEqual(['{"id":1}', '{"progress":1}', '{"id":2}', '{"progress":2}', '{"id":3}']);
  });
});

describe('Exchange.keepAlive', () => {
  it('switches to a stream', async () => {
    const post = await Post.make();
    post.exchange.keepAlive();
    post.exchange.answer('{"n":1}');
    const events = await post.events();
    await events.untilEnded();
    expect(data(events)).toEqual(['{"n":1}']);
  });
});

describe('Exchange after a lost connection', () => {
  it('keeps all events for replay when it had no stream yet', async () => {
    const post = await Post.make({ primes: true });
    await post.loseConnection();
    post.exchange.send('{"n":1}');
    post.exchange.answer('{"n":2}');
    expect(post.response.headersSent).toBe(false);
    expect(post.session.buffer.after('s0', 0)).toHaveLength(2);
    expect(post.session.ended).toEqual(post.session.opened);
  });

  it('keeps the remaining events for replay', async () => {
    const post = await Post.make();
    post.exchange.send('{"n":1}');
    const events = await post.events();
    await until('the first event has come', () => events.all.length === 1);
    const { id } = events.all[0]!;
    await post.loseConnection();
    post.exchange.answer('{"n":2}');
    const rest = post.session.buffer.after('s0', Number(id?.split('.')[0]));
    expect(rest.map(({ bytes }) => bytes.toString())).toEqual([expect.stringContaining('{"n":2}')]);
  });
});

describe('Exchange, the written answer', () => {
  it('is reported after the response, also when the connection is lost', async () => {
    const post = await Post.make();
    const ends: boolean[] = [];
    post.exchange.answer('{}', () => ends.push(post.response.writableEnded));
    expect(ends).toEqual([]);
    await post.json();
    expect(ends).toEqual([true]);
    const lost = await Post.make();
    await lost.loseConnection();
    lost.exchange.answer('{}', () => ends.push(lost.response.writableEnded));
    await flushPromises();
    expect(ends).toEqual([true, false]);
  });

  it('of a batch is reported when the whole batch is written', async () => {
    const post = await Post.make({ unanswered: 2, isBatch: true });
    const written: number[] = [];
    post.exchange.answer('{"id":1}', () => written.push(1));
    await flushPromises();
    expect(written).toEqual([]);
    post.exchange.answer('{"id":2}', () => written.push(2));
    await post.json();
    expect(written).toEqual([1, 2]);
  });

  it('of a batch is reported when the response becomes a stream', async () => {
    const post = await Post.make({ unanswered: 3, isBatch: true });
    const written: number[] = [];
    post.exchange.answer('{"id":1}', () => written.push(1));
    post.exchange.send('{"n":1}');
    expect(written).toEqual([1]);
    post.exchange.answer('{"id":2}', () => written.push(2));
    expect(written).toEqual([1, 2]);
  });
});
