import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { flushPromises } from '../../test/kit/promises.js';
import { FakeResponse } from '../../test/kit/fake-response.js';
import { eventFrame, primingFrame, type EventFrame } from '../mcp/event-frame.js';
import type { EventStream } from './event-stream.js';
import { SessionStreams, type ResumePoint } from './session-streams.js';

const frameOf = (method: string, stream?: EventStream) =>
  eventFrame(JSON.stringify({ jsonrpc: '2.0', method }), undefined, stream?.name);

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

describe('SessionStreams', () => {
  let streams: SessionStreams;

  beforeEach(() => {
    streams = new SessionStreams({ streamQueue: 10, streamStuckMs: 1000, replayEvents: 10 });
  });

  const responseCount = (): number => (Reflect.get(streams, 'responseStreams') as Map<string, unknown>).size;

  async function listening(resume?: ResumePoint): Promise<FakeResponse> {
    const connection = new FakeResponse();
    streams.listen(connection.response, resume);
    await flushPromises();
    return connection;
  }

  /** A response stream whose client has lost its connection after one event. */
  async function disconnectedStream(
    method: string,
    requestId?: number,
  ): Promise<{ stream: EventStream; resume: ResumePoint }> {
    const stream = streams.open(requestId);
    const connection = new FakeResponse();
    stream.connect(connection.response);
    const frame = frameOf(method, stream);
    stream.send(frame);
    await connection.disconnect();
    return { stream, resume: { stream: stream.name, sequence: frame.sequence } };
  }

  const sendUpdates = (count: number): EventFrame[] =>
    Array.from({ length: count }, () => {
      const frame = frameOf('updated');
      streams.standalone.send(frame);
      return frame;
    });

  /** Events of another stream of the session, which take the places of older events in the buffer. */
  function sendProgress(count: number): void {
    const stream = streams.open();
    stream.connect(new FakeResponse().response);
    for (let n = 0; n < count; n++) stream.send(frameOf('progress', stream));
  }

  async function disconnectedAfter(count: number): Promise<ResumePoint> {
    const connection = await listening();
    const last = sendUpdates(count).at(-1)!;
    await connection.disconnect();
    return { stream: '', sequence: last.sequence };
  }

  it('names streams uniquely and counts connected ones', async () => {
    expect([streams.open().name, streams.open().name]).toEqual(['1', '2']);
    expect(streams.connectedCount).toBe(0);
    const connection = await listening();
    const stream = streams.open();
    stream.connect(new FakeResponse().response);
    expect(streams.connectedCount).toBe(2);
    await connection.disconnect();
    expect(streams.connectedCount).toBe(1);
  });

  it('removes ended streams after a slow reader has read them or is disconnected', () => {
    const stream = streams.open();
    const connection = new FakeResponse();
    connection.response.write = () => false;
    stream.connect(connection.response);
    stream.send(frameOf('a', stream));
    stream.send(frameOf('b', stream));
    stream.end();
    streams.removeIfDone(stream);
    expect(responseCount()).toBe(1);
    connection.response.emit('drain');
    connection.response.emit('drain');
    streams.keepAlive(1000);
    expect(responseCount()).toBe(0);
  });

  it('writes keep-alive comments at the given interval only', async () => {
    const { response } = await listening();
    const written = jest.spyOn(response, 'write');
    for (let n = 0; n < 12; n++) {
      jest.advanceTimersByTime(250);
      streams.keepAlive(1000);
    }
    expect(written).toHaveBeenCalledTimes(3);
    expect(String(written.mock.calls[0]![0])).toBe(': keep-alive\n\n');
  });

  it('resumes only the stream of the last event', async () => {
    const { stream, resume } = await disconnectedStream('a');
    stream.send(frameOf('b', stream));
    streams.standalone.send(frameOf('standalone'));
    const connection = await listening(resume);
    expect(connection.methods).toEqual(['b']);
    expect(connection.response.writableEnded).toBe(false);
  });

  it('replays an ended stream and ends it', async () => {
    const { stream, resume } = await disconnectedStream('a');
    stream.send(frameOf('b', stream));
    stream.end();
    streams.removeIfDone(stream);
    expect(responseCount()).toBe(0);
    const connection = await listening(resume);
    expect(connection.methods).toEqual(['b']);
    expect(connection.response.writableEnded).toBe(true);
  });

  it('replays nothing to a destroyed response', async () => {
    const { stream, resume } = await disconnectedStream('a');
    for (const method of ['b', 'c']) stream.send(frameOf(method, stream));
    stream.end();
    streams.removeIfDone(stream);
    const connection = new FakeResponse();
    const written = jest.spyOn(connection.response, 'write').mockReturnValue(false);
    streams.listen(connection.response, resume);
    expect(written).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(1000);
    expect(connection.response.destroyed).toBe(true);
  });

  it.each([
    ['of the previous process', 17],
    ['above the latest one', 999_999_999_999_999],
  ])('replays everything for an id %s', async (_which, sequence) => {
    const first = await listening();
    streams.standalone.send(frameOf('a'));
    await flushPromises();
    await first.disconnect();
    streams.standalone.send(frameOf('b'));
    expect((await listening({ stream: '', sequence })).methods).toEqual(['a', 'b']);
  });

  describe('onMissedEvents', () => {
    let reported: string[][];

    beforeEach(() => {
      reported = [];
      streams.onMissedEvents((queued) => reported.push([...queued]));
    });

    it('reports a resumed stream whose later events the buffer has dropped', async () => {
      const connection = await listening();
      const [received] = sendUpdates(2);
      await connection.disconnect();
      sendProgress(10);
      const resumed = await listening({ stream: '', sequence: received!.sequence });
      expect(resumed.methods).toEqual([]);
      expect(reported).toEqual([[]]);
    });

    it('names the queued events, which the client gets anyway', async () => {
      const resume = await disconnectedAfter(1);
      for (const coalesce of ['a', 'b', 'c']) streams.standalone.send(frameOf(coalesce), { coalesce });
      sendProgress(9);
      const resumed = await listening(resume);
      expect(resumed.methods).toEqual(['a', 'b', 'c']);
      expect(reported).toEqual([['a', 'b', 'c']]);
    });

    it('reports nothing while the buffer has all later events', async () => {
      const resume = await disconnectedAfter(5);
      sendUpdates(8);
      expect((await listening(resume)).methods).toHaveLength(8);
      expect(reported).toEqual([]);
    });

    it('reports nothing when only events of other streams, and those that the client received, were dropped', async () => {
      const resume = await disconnectedAfter(2);
      sendProgress(20);
      await listening(resume);
      expect(reported).toEqual([]);
    });

    it('reports nothing when the client resumes from a primer that was dropped after all earlier events', async () => {
      const resume = await disconnectedAfter(1);
      const primer = primingFrame('');
      const second = new FakeResponse();
      streams.listen(second.response, resume, primer);
      await second.disconnect();
      sendProgress(10);
      await listening({ stream: '', sequence: primer.sequence });
      expect(reported).toEqual([]);
      sendUpdates(1);
      sendProgress(10);
      await listening({ stream: '', sequence: primer.sequence });
      expect(reported).toEqual([[]]);
    });

    it('reports a stream that is resumed from the previous process when events of this process were dropped', async () => {
      sendUpdates(1);
      sendProgress(10);
      await listening({ stream: '', sequence: 17 });
      expect(reported).toEqual([['#1']]);
    });

    it('reports nothing when a response stream is resumed', async () => {
      const { stream, resume } = await disconnectedStream('a');
      sendUpdates(1);
      for (let n = 0; n < 10; n++) stream.send(frameOf('b', stream));
      await listening(resume);
      expect(reported).toEqual([]);
    });
  });

  it('answers with an error when a response stream of the previous process is resumed', async () => {
    const stream = streams.open(7);
    stream.send(frameOf('of now', stream));
    const connection = await listening({ stream: stream.name, sequence: 17 });
    expect(connection.messages).toMatchObject([{ id: 7, error: { code: -31009 } }]);
    expect(connection.response.writableEnded).toBe(true);
  });

  it('answers with an error when the response is not in the replay buffer any more', async () => {
    const { stream, resume } = await disconnectedStream('a', 7);
    stream.end();
    streams.removeIfDone(stream);
    for (let n = 0; n < 10; n++) streams.standalone.send(frameOf('later'));
    const connection = await listening(resume);
    expect(connection.messages).toMatchObject([{ id: 7, error: { code: -31009 } }]);
  });

  it('replays nothing when the last event was the response', async () => {
    const { stream, resume } = await disconnectedStream('a', 7);
    stream.end();
    streams.removeIfDone(stream);
    const connection = await listening(resume);
    expect(connection.messages).toEqual([]);
    expect(connection.response.writableEnded).toBe(true);
  });

  it('ends the resumed stream of a batch of the previous process', async () => {
    const connection = await listening({ stream: streams.open().name, sequence: 17 });
    expect(connection.messages).toEqual([]);
    expect(connection.response.writableEnded).toBe(true);
  });
});
