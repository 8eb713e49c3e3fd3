import { open, type FileHandle } from 'node:fs/promises';
import { errnoOf } from '../storage-failure.js';

const CHUNK_BYTES = 64 * 1024;
const LINE_BREAK = 0x0a;

export interface AuditLine {
  readonly bytes: Buffer;
  /** False for a last line without a line break. */
  readonly isComplete: boolean;
}

/** Undefined when the file does not exist. Otherwise the caller closes it. */
export async function openIfExists(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The lines as bytes, because decoding maps different invalid bytes to the same text. */
export async function* linesOf(file: FileHandle): AsyncGenerator<AuditLine> {
  let rest: Buffer[] = [];
  for (let position = 0; ;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    let start = 0;
    const chunk = buffer.subarray(0, bytesRead);
    for (let end = chunk.indexOf(LINE_BREAK); end >= 0; end = chunk.indexOf(LINE_BREAK, start)) {
      yield { bytes: Buffer.concat([...rest, chunk.subarray(start, end)]), isComplete: true };
      rest = [];
      start = end + 1;
    }
    if (start < bytesRead) rest.push(chunk.subarray(start));
  }
  if (rest.length > 0) yield { bytes: Buffer.concat(rest), isComplete: false };
}

export interface AuditTail {
  /** The last complete line; undefined if there is none. */
  readonly lastLine: Buffer | undefined;
  /** Bytes of the complete lines. */
  readonly size: number;
  /** The incomplete line after the complete ones; empty if there is none. */
  readonly torn: Buffer;
}

/** Reads only the end of the file. */
export async function tailOf(file: FileHandle): Promise<AuditTail> {
  const { size } = await file.stat();
  for (let length = CHUNK_BYTES; ; length *= 2) {
    const start = Math.max(0, size - length);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
    const bytes = buffer.subarray(0, bytesRead);
    const end = bytes.lastIndexOf(LINE_BREAK);
    const before = end > 0 ? bytes.lastIndexOf(LINE_BREAK, end - 1) : -1;
    if (start > 0 && before < 0) continue;
    const lastLine = end < 0 ? undefined : bytes.subarray(before + 1, end);
    return { lastLine, size: start + end + 1, torn: bytes.subarray(end + 1) };
  }
}
