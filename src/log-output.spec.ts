import { Writable } from 'node:stream';
import { describe, expect, it, jest } from '@jest/globals';
import { flushPromises } from '../test/kit/promises.js';
import { LogOutput } from './log-output.js';

const LINE = 'x'.repeat(1023) + '\n';
const lost = (output: LogOutput): object =>
  Object.fromEntries([...output.lost()].map(([{ reason }, lines]) => [reason, lines]));

describe('LogOutput', () => {
  it('writes to stderr, because stdout is reserved for the URL', () => {
    const stderr = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    const stdout = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    new LogOutput().write('x');
    expect([stderr.mock.calls.length, stdout.mock.calls.length]).toEqual([1, 0]);
    jest.restoreAllMocks();
  });

  it('keeps one mebibyte for a reader that does not read, and writes again when it reads', async () => {
    const reads: (() => void)[] = [];
    const stream = new Writable({
      write: (_chunk, _encoding, done) => void reads.push(done),
      writev: (_chunks, done) => void reads.push(done),
    });
    const output = new LogOutput(stream);
    for (let i = 0; i < 2000; i++) output.write(LINE);
    expect(lost(output)).toEqual({ closed: 0, full: 2000 - 1025 });
    expect(stream.writableLength).toBe(1025 * 1024);

    reads[0]!();
    await flushPromises();
    reads[1]!();
    await flushPromises();
    output.write(LINE);
    expect(lost(output)).toEqual({ closed: 0, full: 2000 - 1025 });
  });

  it('counts lines that the stream refuses and survives the error', async () => {
    const stream = new Writable({
      autoDestroy: false,
      write: (_chunk, _encoding, done) => done(new Error('EPIPE')),
    });
    const output = new LogOutput(stream);
    output.write(LINE);
    await flushPromises();
    expect(lost(output)).toEqual({ closed: 1, full: 0 });
  });
});
