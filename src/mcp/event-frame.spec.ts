import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  eventFrame,
  longEventFrame,
  latestSequence,
  notificationFrame,
  parseEventId,
  primingFrame,
  type EventFrame,
} from './event-frame.js';

const linesOf = (bytes: Buffer): string[] => bytes.toString().split('\n');
const idOf = (bytes: Buffer): string =>
  linesOf(bytes)
    .find((line) => line.startsWith('id: '))!
    .slice(4);

function frameOf(source: object): { frame: EventFrame; source: WeakRef<object> } {
  return {
    frame: notificationFrame('a', 'message', 2, () => JSON.stringify(source)),
    source: new WeakRef(source),
  };
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

describe('EventFrame', () => {
  it('has an id and data, and ends with an empty line', () => {
    const { bytes, sequence } = eventFrame('{"a":1}', undefined, 'x');
    expect(bytes.toString()).toBe(`event: message\nid: ${sequence}.x\ndata: {"a":1}\n\n`);
  });

  it('has an id without a stream name on the standalone stream', () => {
    const { bytes, sequence } = eventFrame('{}');
    expect(idOf(bytes)).toBe(String(sequence));
  });

  it('has one line of data for any formatting of the message', () => {
    const message = { 'a\n': 'b\r\nc', d: [1, { e: '\u2028' }] };
    const { bytes } = eventFrame(JSON.stringify(message, null, '\r\n\t'));
    const data = linesOf(bytes).filter((line) => line.startsWith('data: '));
    expect(bytes.toString()).not.toContain('\r');
    expect(data).toHaveLength(1);
    expect(JSON.parse(data[0]!.slice(6))).toEqual(message);
  });

  it('has the parts of a long message as they are', () => {
    const message = ['{"a":', '1', '}'].map((part) => Buffer.from(part));
    const { bytes, rest, sequence, size } = longEventFrame(message, 'x');
    expect(Buffer.concat([bytes, ...rest!]).toString()).toBe(
      `event: message\nid: ${sequence}.x\ndata: {"a":1}\n\n`,
    );
    expect(size).toBe(7);
    expect(rest!.slice(0, 3)).toEqual(message);
  });

  it('has an id and empty data without a message', () => {
    const { bytes, sequence } = primingFrame('x');
    expect(bytes.toString()).toBe(`id: ${sequence}.x\ndata: \n\n`);
  });

  it('is composed once', () => {
    let times = 0;
    const lazy = notificationFrame('a', 'message', 2, () => `{"times":${++times}}`);
    expect(times).toBe(0);
    const first = lazy.bytes.toString();
    expect(eventFrame('{}').bytes.toString()).not.toBe(first);
    expect(lazy.bytes.toString()).toBe(first);
    expect(times).toBe(1);
  });

  it('is encoded once for consecutive streams', () => {
    const frame = eventFrame('{}');
    expect(frame.bytes).toBe(frame.bytes);
  });

  it('releases its message after it was composed', async () => {
    const frames = [frameOf({}), frameOf({})];
    frames[0]!.frame.bytes.toString();
    // A WeakRef keeps its target until the end of the current task.
    await new Promise(setImmediate);
    collectGarbage();
    expect(frames.map(({ source }) => source.deref())).toEqual([undefined, {}]);
    expect(frames[1]!.frame.bytes.toString()).toContain('"params":{}');
  });

  it('has a sequence number above those of the previous process that fits into an id', () => {
    const { sequence } = eventFrame('{}');
    expect(latestSequence()).toBe(sequence);
    // The previous process ended before this one began, with fewer than a hundred events per millisecond.
    const hourAgo = (Date.now() - 3_600_000) * 100;
    expect(sequence).toBeGreaterThan(hourAgo);
    expect(parseEventId(String(sequence))).toEqual({ sequence, stream: '' });
  });

  it('has an increasing sequence number', () => {
    const frames = [eventFrame('{}'), primingFrame('a'), eventFrame('{}', undefined, 'b'), eventFrame('{}')];
    const sequences = frames.map(({ sequence }) => sequence);
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
    expect(new Set(sequences).size).toBe(4);
  });

  it('has an id that parseEventId reads', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^([a-z0-9]{1,16}(-[A-Za-z0-9_-]{1,96})?)?$/), (stream) => {
        const { bytes, sequence } = eventFrame('{}', undefined, stream);
        expect(parseEventId(idOf(bytes))).toEqual({ sequence, stream });
      }),
    );
  });

  it.each([
    '',
    'x',
    '-1',
    '1.',
    '.x',
    '1.x.y',
    '1.X',
    ' 1',
    '1 ',
    '1e3',
    '0x10',
    '1\n',
    '9'.repeat(16),
    `1.${'a'.repeat(17)}`,
    '1.__proto__',
  ])('is not identified by %j', (id) => {
    expect(parseEventId(id)).toBeUndefined();
  });
});

const PARAMS = '{"uri":"x://a"}';
const notification = (text?: string) =>
  notificationFrame('a/b', 'message', 2, text === undefined ? undefined : () => text);
const forListen = (text: string | undefined, id: unknown): string =>
  Buffer.concat(notification(text).partsFor(Buffer.from(JSON.stringify(id)))).toString();

describe('NotificationFrame', () => {
  it('has an event id for a session', () => {
    const { bytes, sequence } = notification(PARAMS);
    expect(bytes.toString()).toBe(
      `event: message\nid: ${sequence}\ndata: {"jsonrpc":"2.0","method":"a/b","params":${PARAMS}}\n\n`,
    );
  });

  it('has the id of the request in place of an event id for a listen stream', () => {
    expect(forListen(PARAMS, 'listen:0')).toBe(
      'event: message\ndata: {"jsonrpc":"2.0","method":"a/b","params":' +
        '{"_meta":{"io.modelcontextprotocol/subscriptionId":"listen:0"},"uri":"x://a"}}\n\n',
    );
  });

  it.each([7, '7', 'line\nbreak', 'ä\u2028"\\'])('keeps the type of the id %j, on one line', (id) => {
    const [event, data, ...rest] = forListen(undefined, id).split('\n');
    expect([event, rest]).toEqual(['event: message', ['', '']]);
    expect(JSON.parse(data!.slice('data: '.length))).toEqual({
      jsonrpc: '2.0',
      method: 'a/b',
      params: { _meta: { 'io.modelcontextprotocol/subscriptionId': id } },
    });
  });

  it('shares the bytes of a large event between listen streams', () => {
    const params = JSON.stringify({ uri: 'x://a', text: 'x'.repeat(100_000) });
    const shared = notification(params);
    const [one, two] = [1, 2].map((id) => shared.partsFor(Buffer.from(`${id}`)));
    expect([one!.length, one![0] === two![0], one![2] === two![2]]).toEqual([3, true, true]);
    expect(Buffer.concat(two!).toString()).toBe(
      'event: message\ndata: {"jsonrpc":"2.0","method":"a/b","params":' +
        `{"_meta":{"io.modelcontextprotocol/subscriptionId":2},${params.slice(1)}}\n\n`,
    );
    expect(notification(PARAMS).partsFor(Buffer.from('1'))).toHaveLength(1);
  });

  it('composes its params once for all recipients', () => {
    let times = 0;
    const shared = notificationFrame('a', 'message', 2, () => `{"times":${++times}}`);
    const [one, two] = [1, 2].map((id) => Buffer.concat(shared.partsFor(Buffer.from(`${id}`))).toString());
    expect(one).not.toBe(two);
    for (const text of [one, two, shared.bytes.toString()]) expect(text).toContain('"times":1');
  });

  it('has one line of data for any formatting of the params', () => {
    const text = JSON.stringify({ uri: 'x://a', _meta: { a: [1] } }, null, '\r\n\t');
    for (const bytes of [notification(text).bytes.toString(), forListen(text, 1)]) {
      expect(bytes).not.toContain('\r');
      expect(bytes.split('\n').filter((line) => line.startsWith('data: '))).toHaveLength(1);
    }
  });

  it('has a size above that of a primer without params', () => {
    expect(notificationFrame('a', 'message').size).toBeGreaterThan(0);
  });
});
