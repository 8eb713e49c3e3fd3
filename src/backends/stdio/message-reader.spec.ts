import { describe, expect, it } from '@jest/globals';
import { MessageReader } from './message-reader.js';

function read(input: string | Buffer) {
  const seen = { messages: [] as unknown[], texts: [] as string[], errors: [] as unknown[] };
  const reader = new MessageReader(
    1_000,
    (message, text) => {
      seen.messages.push(message);
      seen.texts.push(text);
      if (text.includes('explode')) throw new Error('boom');
    },
    (error) => void seen.errors.push(error),
  );
  reader.push(Buffer.from(input));
  return { ...seen, ignored: reader.ignoredLines };
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
    expect(read(`${text}\n`)).toEqual({
      messages: [JSON.parse(text)],
      texts: [text],
      errors: [],
      ignored: 0,
    });
  });

  it('treats a carriage return as part of the newline, and skips empty lines', () => {
    const { texts, ignored } = read(`\n\r\n${ping}\r\n\n`);
    expect({ texts, ignored }).toEqual({ texts: [ping], ignored: 0 });
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
    const { texts, errors, ignored } = read(Buffer.concat([Buffer.from(line), Buffer.from(`\n${ping}\n`)]));
    expect({ texts, reports: errors.length, ignored }).toEqual({ texts: [ping], reports: 1, ignored: 1 });
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
});
