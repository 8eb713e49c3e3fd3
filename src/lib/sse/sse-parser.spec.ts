import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { EventStreamParser, SseParser } from './sse-parser.js';

function parse(chunks: readonly Buffer[], limit = 1_000_000) {
  const events: [data: string, type: string, id: string][] = [];
  const parser: SseParser = new SseParser(limit, (data, type) =>
    events.push([data, type, parser.lastEventId]),
  );
  const isReadable = chunks.every((chunk) => parser.push(chunk));
  return { events, isReadable, lastEventId: parser.lastEventId, retryMs: parser.retryMs };
}

const parseText = (text: string, limit?: number) => parse([Buffer.from(text)], limit);

describe('SseParser', () => {
  it.each([
    ['data: a\n\n', 'a'],
    ['data:a\n\n', 'a'],
    ['data:  a\n\n', ' a'],
    ['data: a\r\n\r\n', 'a'],
    ['data: a\r\r', 'a'],
    ['data: a\r\n\ndata', 'a'],
    ['\uFEFFdata: a\n\n', 'a'],
    [': comment\ndata: a\n:\n\n', 'a'],
    ['data: {\ndata: "x": 1\ndata: }\n\n', '{\n"x": 1\n}'],
    ['data: a\ndata\ndata: b\n\n', 'a\n\nb'],
    ['unknown: x\nDATA: y\ndata: a: b\n\n', 'a: b'],
    ['longer than any field name: x\ndata: a\n\n', 'a'],
    ['data: añ€😀\n\n', 'añ€😀'],
  ])('parses the event of %j', (text, data) => {
    expect(parseText(text).events).toEqual([[data, 'message', '']]);
  });

  it('applies the type of an event to that event only', () => {
    expect(parseText('event: ping\ndata: a\n\ndata: b\n\n').events).toEqual([
      ['a', 'ping', ''],
      ['b', 'message', ''],
    ]);
  });

  it('keeps the last id, also of events without data', () => {
    expect(parseText('id: 1\ndata:\n\n')).toMatchObject({ events: [], lastEventId: '1' });
    expect(parseText('id: 1\ndata: a\n\ndata: b\n\n').events.map(([, , id]) => id)).toEqual(['1', '1']);
    expect(parseText('id: 1\ndata: a\n\nid\n\n').lastEventId).toBe('');
  });

  it('ignores an incomplete event at the end', () => {
    expect(parseText('id: 1\ndata: a\n\nid: 2\ndata: b\n')).toMatchObject({
      events: [['a', 'message', '1']],
      lastEventId: '1',
    });
  });

  it.each(['1\u00002', '1\u007F', 'x'.repeat(1025)])('ignores an id that cannot be a header value', (id) => {
    expect(parseText(`id: good\nid: ${id}\ndata: a\n\n`).lastEventId).toBe('good');
  });

  it.each([
    ['retry: 1500\n\n', 1500],
    ['retry: 0\n\n', 0],
    ['retry: soon\n\n', undefined],
    ['retry: -1\n\n', undefined],
    ['retry: 99999999999999999999\n\n', undefined],
  ])('parses the retry field of %j', (text, retryMs) => {
    expect(parseText(text).retryMs).toBe(retryMs);
  });

  it.each([
    'data: 12345678901\n\n',
    'data: 123456\ndata: 7890\n\n',
    `data: ${'1'.repeat(40)}`,
    `:${'c'.repeat(40)}`,
  ])('rejects %j with a limit of ten bytes', (text) => {
    expect(parseText(text, 10)).toMatchObject({ isReadable: false, events: [] });
  });

  it('does not limit the number of events', () => {
    expect(parseText('data: 1234567890\n\n'.repeat(1000), 10).events).toHaveLength(1000);
  });

  it('parses the same events from any division into chunks', () => {
    const line = fc.constantFrom(
      'data: {"ü":"😀"}',
      'data',
      'data: ',
      'data:x',
      ': c',
      'id: ñ1',
      'id',
      'event: e',
      'retry: 7',
      'zzzzzzzz',
      'data: {"long":"0123456789"}',
      'database: 0123456789',
      ': a long comment 0123456789',
    );
    const ending = fc.constantFrom('\n', '\r', '\r\n', '\n\n', '\r\r', '\r\n\r\n');
    const stream = fc
      .tuple(fc.constantFrom('', '\uFEFF'), fc.array(fc.tuple(line, ending), { maxLength: 30 }))
      .map(([mark, lines]) => mark + lines.flat().join(''));
    const cuts = fc.array(fc.nat(400), { maxLength: 60 });
    fc.assert(
      fc.property(stream, cuts, (text, at) => {
        const bytes = Buffer.from(text);
        const offsets = [0, ...at.filter((n) => n < bytes.length).toSorted((a, b) => a - b), bytes.length];
        const chunks = offsets.slice(1).map((end, i) => bytes.subarray(offsets[i], end));
        expect(parse(chunks)).toEqual(parseText(text));
      }),
      { numRuns: 500 },
    );
  });

  it('takes linear time for many lines and chunks', () => {
    const lines = 200_000;
    expect(parseText('\r\n'.repeat(lines)).isReadable).toBe(true);
    const piece = Buffer.from('x'.repeat(64));
    const chunks = [Buffer.from('data: '), ...Array<Buffer>(lines).fill(piece), Buffer.from('\n\n')];
    expect(parse(chunks, 64 * lines).events[0]?.[0]).toHaveLength(64 * lines);
  });
});

describe('EventStreamParser', () => {
  it('hands data on before the line ends', () => {
    const pieces: string[] = [];
    const data = {
      length: 1,
      append: (bytes: Buffer) => pieces.push(bytes.toString()) > 0,
      take: () => pieces.join(''),
    };
    const events: string[] = [];
    const parser = new EventStreamParser(100, data, (text) => events.push(text));
    for (const chunk of ['da', 'ta: 12345', '678', '9']) parser.push(Buffer.from(chunk));
    expect(pieces).toEqual(['12345', '678', '9']);
    parser.push(Buffer.from('\n\n'));
    expect(events).toEqual(['123456789']);
  });
});
