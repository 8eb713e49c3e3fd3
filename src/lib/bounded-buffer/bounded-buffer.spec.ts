import { describe, expect, it, jest } from '@jest/globals';
import { BoundedBuffer } from './bounded-buffer.js';

const MB = 1024 * 1024;

describe('BoundedBuffer', () => {
  it('does not copy a message of one chunk', () => {
    const chunk = Buffer.from('whole');
    const bytes = new BoundedBuffer(100);
    bytes.append(chunk);
    expect(bytes.take()).toBe(chunk);
  });

  it('joins characters that were split between chunks', () => {
    const bytes = new BoundedBuffer(100);
    for (const byte of Buffer.from('añ€😀')) bytes.append(Buffer.from([byte]));
    expect(bytes.take().toString()).toBe('añ€😀');
    expect(bytes.length).toBe(0);
  });

  it('never writes into a chunk of the caller', () => {
    const chunk = Buffer.from('abcdef').subarray(0, 3);
    const bytes = new BoundedBuffer(100);
    bytes.append(chunk);
    bytes.append(Buffer.from('XYZ'));
    expect(bytes.take().toString()).toBe('abcXYZ');
    expect(Buffer.from(chunk.buffer, chunk.byteOffset, 6).toString()).toBe('abcdef');
  });

  it('joins small and large chunks in their order', () => {
    const sizes = [1, 5000, 1, 0, 4095, 4096, 3, 70_000, 2, 2, 4000, 4000, 4000];
    const chunks = sizes.map((size, n) => Buffer.alloc(size, n + 65));
    const bytes = new BoundedBuffer(1_000_000);
    for (const chunk of chunks) bytes.append(chunk);
    expect(bytes.take().equals(Buffer.concat(chunks))).toBe(true);
  });

  it.each([1, 9999, 10_000, 10_001, 50_000])('joins chunks when %d bytes were expected', (expected) => {
    const chunks = [5000, 1, 4998, 1].map((size, n) => Buffer.alloc(size, n + 65));
    const bytes = new BoundedBuffer(1_000_000, expected);
    for (const chunk of chunks) bytes.append(chunk);
    expect(bytes.bytes.equals(Buffer.concat(chunks))).toBe(true);
    expect(bytes.take().equals(Buffer.concat(chunks))).toBe(true);
    for (const chunk of chunks) bytes.append(chunk);
    expect(bytes.take().length).toBe(10_000);
  });

  it('keeps no chunk of a message of the expected size', () => {
    const bytes = new BoundedBuffer(10_000, 9000);
    const chunk = Buffer.from('a');
    bytes.append(chunk);
    chunk.write('b');
    bytes.append(Buffer.alloc(5000, 'c'));
    expect(bytes.take().toString()).toBe('a' + 'c'.repeat(5000));
  });

  it.each([
    ['that is expected', 16],
    ['that is not expected', 0],
  ])('moves at most 4 MB at once of a message of 16 MB %s', (_, expectedMegabytes) => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const bytes = new BoundedBuffer(16 * MB, expectedMegabytes * MB);
    let moved = 0;
    const copy = jest.spyOn(Buffer.prototype, 'copy').mockImplementation(function (this: Buffer) {
      moved = Math.max(moved, this.length);
      return this.length;
    });
    for (let length = 0; length < 16 * MB; length += chunk.length) bytes.append(chunk);
    const taken = bytes.take();
    copy.mockRestore();
    expect(taken.length).toBe(16 * MB);
    expect(moved).toBeLessThanOrEqual((expectedMegabytes > 0 ? 1 : 4) * MB);
  });

  it('reserves one megabyte for a message of which a little has arrived', () => {
    const bytes = new BoundedBuffer(16 * MB, 16 * MB);
    for (let i = 0; i < 3; i++) bytes.append(Buffer.alloc(1000));
    expect(bytes.take().buffer.byteLength).toBe(MB);
  });

  it('accepts exactly its limit and is empty after more', () => {
    const bytes = new BoundedBuffer(4);
    expect([bytes.append(Buffer.from('ab')), bytes.append(Buffer.from('cd'))]).toEqual([true, true]);
    expect(bytes.append(Buffer.from('e'))).toBe(false);
    expect(bytes.length).toBe(0);
  });

  it('collects a million single bytes', () => {
    const bytes = new BoundedBuffer(1_000_000);
    const byte = Buffer.from('x');
    for (let i = 0; i < 1_000_000; i++) bytes.append(byte);
    expect(bytes.take().length).toBe(1_000_000);
  });
});
