import { isUtf8 } from 'node:buffer';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { tryParseJson } from '../../lib/json-text/json-value.js';
import { isMessage } from '../../mcp/json-rpc.js';
import { IgnoredLines } from './ignored-lines.js';
import { LineSplitter } from './line-splitter.js';

const CR = 0x0d;
const OPEN_BRACE = 0x7b;
const MIN_MESSAGE_BYTES = '{"jsonrpc":"2.0"}'.length;

/** Reads the messages on a child's stdout. Lines that are not messages are counted and reported. */
export class MessageReader {
  private readonly ignored = new IgnoredLines();
  private readonly lines: LineSplitter;

  constructor(
    maxLineBytes: number,
    private readonly onMessage: (message: JSONRPCMessage, text: string) => void,
    private readonly report: (error: unknown) => void,
  ) {
    this.lines = new LineSplitter(maxLineBytes, (bytes, start, end) => this.read(bytes, start, end));
  }

  get ignoredLines(): number {
    return this.ignored.count;
  }

  /** Returns false when a line is over the size limit. */
  push(chunk: Buffer): boolean {
    return this.lines.push(chunk);
  }

  /** Drops the unfinished line. */
  clear(): void {
    this.lines.clear();
  }

  private read(bytes: Buffer, start: number, lineEnd: number): void {
    const end = lineEnd > start && bytes[lineEnd - 1] === CR ? lineEnd - 1 : lineEnd;
    if (end === start) return;
    // Checked before parsing, because JSON.parse is slow on errors: a flood of such lines would block the event loop.
    if (end - start < MIN_MESSAGE_BYTES || !mayBeginObject(bytes[start])) {
      return this.ignore('is not JSON-RPC', bytes, start, end);
    }
    const text = bytes.toString('utf8', start, end);
    if (text.includes('\uFFFD') && !isUtf8(bytes.subarray(start, end))) {
      return this.ignore('is not UTF-8', bytes, start, end);
    }
    const message = tryParseJson(text);
    if (!isMessage(message)) return this.ignore('is not JSON-RPC', bytes, start, end);
    try {
      this.onMessage(message, text);
    } catch (error) {
      this.report(error);
    }
  }

  private ignore(why: string, bytes: Buffer, start: number, end: number): void {
    const report = this.ignored.add(why, bytes, start, end);
    if (report) this.report(report);
  }
}

function mayBeginObject(byte: number | undefined): boolean {
  return byte === OPEN_BRACE || byte === 0x20 || byte === 0x09;
}
