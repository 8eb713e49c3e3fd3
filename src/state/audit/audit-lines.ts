import { open, type FileHandle } from 'node:fs/promises';
import { errnoOf } from '../storage-failure.js';

const CHUNK_BYTES = 64 * 1024;
const LINE_BREAK = 0x0a;

export interface AuditLine {
  readonly bytes: Buffer;
  /** False for a last line without a line break. */
  readonly isComplete: boolean;
}

/** Resolves with undefined when the file does not exist. The caller closes an opened file. */
export async function openIfExists(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * The lines as bytes, without line breaks. Decoding the lines to text would hide some changes of the file, because different
 * invalid bytes decode to the same text.
 */
export async function* linesOf(file: FileHandle): AsyncGenerator<AuditLine> {
  /** The chunks of a line whose end is not read yet. */
  let lineChunks: Buffer[] = [];
  let position = 0;
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    let start = 0;
    const chunk = buffer.subarray(0, bytesRead);
    for (let end = chunk.indexOf(LINE_BREAK); end >= 0; end = chunk.indexOf(LINE_BREAK, start)) {
      yield { bytes: Buffer.concat([...lineChunks, chunk.subarray(start, end)]), isComplete: true };
      lineChunks = [];
      start = end + 1;
    }
    if (start < bytesRead) lineChunks.push(chunk.subarray(start));
  }
  if (lineChunks.length > 0) yield { bytes: Buffer.concat(lineChunks), isComplete: false };
}

export interface AuditTail {
  /** The last complete line; undefined if there is none. */
  readonly lastLine: Buffer | undefined;
  /** Size of the complete lines in bytes. */
  readonly size: number;
  /** The incomplete line after the complete ones; empty if there is none. */
  readonly torn: Buffer;
}

/** Reads only the end of the file: one chunk, or more if the last line is longer. */
export async function tailOf(file: FileHandle): Promise<AuditTail> {
  const { size } = await file.stat();
  for (let length = CHUNK_BYTES; ; length *= 2) {
    const start = Math.max(0, size - length);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
    const bytes = buffer.subarray(0, bytesRead);
    const lastBreak = bytes.lastIndexOf(LINE_BREAK);
    const previousBreak = lastBreak > 0 ? bytes.lastIndexOf(LINE_BREAK, lastBreak - 1) : -1;
    const isLastLineCut = start > 0 && previousBreak < 0;
    if (isLastLineCut) continue;
    const lastLine = lastBreak < 0 ? undefined : bytes.subarray(previousBreak + 1, lastBreak);
    return { lastLine, size: start + lastBreak + 1, torn: bytes.subarray(lastBreak + 1) };
  }
}
