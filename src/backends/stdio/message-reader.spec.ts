import { describe, expect, it } from '@jest/globals';
import type { JsonProblem } from '../../lib/json-text/json-reader.js';
import { requestIdIn } from '../../mcp/json-rpc.js';
import { MessageReader } from './message-reader.js';

/** Reads the input in chunks of `size` bytes. */
function read(input: string | Buffer, size = 1_000_000) {
  const seen = { messages: [] as unknown[], texts: [] as string[], errors: [] as unknown[] };
  const refused: JsonProblem[] = [];
  let ignored = 0;
  const reader = new MessageReader(1_000_000, {
    inbound: () => ({
      isOverRate: true,
      admits: (text) => !text.includes('excess'),
      chargeMalformed: () => ignored++,
      pauseAfter: () => 0,
      expectMessagesSince: () => {},
    }),
    onMessage: (message, { text }) => {
      seen.messages.push(message);
      seen.texts.push(text);
      if (text.includes('explode')) throw new Error('boom');
    },
    onRefused: (problem) => refused.push(problem),
    report: (error) => void seen.errors.push(error),
  });
  const bytes = Buffer.from(input);
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
  expect(ignored).toBe(reader.ignoredLines);
  return { ...seen, ignored: reader.ignoredLines, refused };
}

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

describe('MessageReader', () => {
  it.each([
    [
      'as it was written',
      '{"jsonrpc":"2.0","id":1,"result":{"n":12345678901234567890,"f":1.0,"s":"\\u00e9","x":[]}}',
    ],
    ['beginning with a space', ` ${ping}`],
    ['with a replacement character of its own', '{"jsonrpc":"2.0","method":"\uFFFD"}'],
    ['in every alphabet', '{"jsonrpc":"2.0","method":"ж漢🏰\u2028"}'],
  ])('delivers a message %s', (_, text) => {
    for (const size of [1, 7, 1000])
      expect(read(`${text}\n`, size)).toEqual({
        messages: [JSON.parse(text)],
        texts: [text],
        errors: [],
        ignored: 0,
        refused: [],
      });
  });

  it('treats a carriage return as part of the newline, and skips empty lines', () => {
    for (const size of [1, 1000]) {
      const { texts, ignored } = read(`\n\r\n${ping}\r\n\n`, size);
      expect({ texts: texts.map((text) => text.trim()), ignored }).toEqual({ texts: [ping], ignored: 0 });
    }
  });

  it.each([
    ['a log line', 'Server running on stdio, ready for requests'],
    ['broken JSON', '{"jsonrpc":"2.0","id":1,'],
    ['another version', '{"jsonrpc":"1.0","id":1}'],
    ['no version', '{"id":1,"method":"a long enough one"}'],
    ['a batch', `[${ping}]`],
    ['a short word', 'ok'],
    [
      'invalid UTF-8',
      Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":"'), Buffer.of(0xff), Buffer.from('"}')]),
    ],
  ])('ignores and reports %s, and keeps reading', (_, line) => {
    for (const size of [1, 1000]) {
      const input = Buffer.concat([Buffer.from(line), Buffer.from(`\n${ping}\n`)]);
      const { texts, errors, ignored } = read(input, size);
      expect({ texts, reports: errors.length, ignored }).toEqual({ texts: [ping], reports: 1, ignored: 1 });
    }
  });

  it.each([
    ['in one chunk', 1_000_000],
    ['in several chunks', 1000],
  ])('refuses a message over a limit that came %s, and keeps reading', (_, size) => {
    const deep = `{"jsonrpc":"2.0","result":${'['.repeat(70)}${']'.repeat(70)},"id":7}`;
    const { texts, errors, refused } = read(`${deep}\n${ping}\n`, size);
    expect({ texts, errors }).toEqual({ texts: [ping], errors: [] });
    expect(refused).toMatchObject([{ reason: 'depth' }]);
    expect(requestIdIn(refused[0]!)).toBe(7);
  });

  it('counts every ignored line of a flood and reports a few', () => {
    const { errors, ignored } = read('x\n'.repeat(10_000));
    expect({ reports: errors.length, ignored }).toEqual({ reports: 3, ignored: 10_000 });
  });

  it('reports a listener that throws, and keeps reading', () => {
    const { texts, errors } = read(`{"jsonrpc":"2.0","method":"explode"}\n${ping}\n`);
    expect(texts).toHaveLength(2);
    expect(errors).toEqual([new Error('boom')]);
  });

  it('does not parse a line that is not admitted', () => {
    expect(read(`{ this line is excess\n${ping}\n`)).toMatchObject({ texts: [ping], errors: [], ignored: 0 });
  });
});
