import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { JsonDocument } from '../../lib/json-text/json-document.js';
import { JsonProblem, JsonReader, type ReadJson } from '../../lib/json-text/json-reader.js';
import { SERVER_JSON_LIMITS } from '../../mcp/json-limits.js';
import { isMessage } from '../../mcp/json-rpc.js';
import { isOverLimit } from '../link/link-errors.js';
import { takeMessage } from '../link/take-message.js';
import type { InboundGate } from '../link/transport.js';
import { IgnoredLines } from './ignored-lines.js';
import { LineSplitter } from './line-splitter.js';

const CR = 0x0d;
const OPEN_BRACE = 0x7b;
const SPACE = 0x20;
const TAB = 0x09;
const MIN_MESSAGE_BYTES = '{"jsonrpc":"2.0"}'.length;

interface MessageListener {
  /** The rate limit of the link, once the link has set it. */
  inbound(): InboundGate | undefined;
  onMessage(message: JSONRPCMessage, document: JsonDocument): void;
  /** A message was not read because it exceeds a JSON limit. */
  onRefused(problem: JsonProblem): void;
  report(error: unknown): void;
}

/** Reads the messages on a child's stdout. Lines that are not messages are counted and reported. */
export class MessageReader {
  private readonly ignored = new IgnoredLines();
  private readonly lines: LineSplitter;
  private readonly json: JsonReader;
  /** The first part of a line that came in several parts. */
  private firstPart: Buffer | undefined;

  constructor(
    maxLineBytes: number,
    private readonly listener: MessageListener,
  ) {
    this.json = new JsonReader({ ...SERVER_JSON_LIMITS, maxBytes: maxLineBytes });
    this.lines = new LineSplitter(maxLineBytes, this);
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
    this.json.clear();
    this.firstPart = undefined;
  }

  readPart(bytes: Buffer): void {
    this.firstPart ??= bytes;
    if (mayBeginObject(this.firstPart[0])) this.json.append(bytes);
  }

  /** The range is the whole line, or the last part of a line of which `readPart` got the others. */
  endLine(bytes: Buffer, start: number, end: number): void {
    const { firstPart } = this;
    if (firstPart === undefined) {
      this.readLine(bytes, start, end);
      return;
    }
    this.firstPart = undefined;
    const isEmptyLine = firstPart[0] === CR && firstPart.length + end - start === 1;
    if (isEmptyLine) return;
    if (!mayBeginObject(firstPart[0])) return this.ignore('is not JSON-RPC', firstPart);
    this.json.append(bytes.subarray(start, end));
    const parsed = takeMessage(this.json, this.listener.inbound());
    if (parsed) this.deliver(parsed, firstPart);
  }

  /** Reads a line that arrived in one piece. */
  private readLine(bytes: Buffer, start: number, lineEnd: number): void {
    const end = lineEnd > start && bytes[lineEnd - 1] === CR ? lineEnd - 1 : lineEnd;
    if (end === start) return;
    // Checked before parsing, because JSON.parse is slow on errors: a flood of such lines would block the event loop.
    if (end - start < MIN_MESSAGE_BYTES || !mayBeginObject(bytes[start])) {
      return this.ignore('is not JSON-RPC', bytes, start, end);
    }
    const inbound = this.listener.inbound();
    if (inbound?.isOverRate && !inbound.admits(bytes.toString('utf8', start, end))) return;
    this.deliver(this.json.read(bytes, start, end), bytes, start, end);
  }

  /** Delivers the message of a parsed line. `bytes` contain the line, or its first part. */
  private deliver(parsed: ReadJson, bytes: Buffer, start = 0, end = bytes.length): void {
    if (parsed instanceof JsonProblem) {
      if (isOverLimit(parsed.reason)) this.listener.onRefused(parsed);
      else this.ignore(parsed.reason === 'encoding' ? 'is not UTF-8' : 'is not JSON-RPC', bytes, start, end);
      return;
    }
    const message = parsed.kind === 'object' ? parsed.value : undefined;
    if (!isMessage(message)) return this.ignore('is not JSON-RPC', bytes, start, end);
    try {
      this.listener.onMessage(message, parsed);
    } catch (error) {
      this.listener.report(error);
    }
  }

  private ignore(why: string, bytes: Buffer, start = 0, end = bytes.length): void {
    this.listener.inbound()?.chargeMalformed();
    const report = this.ignored.add(why, end - start);
    if (report) this.listener.report(report);
  }
}

function mayBeginObject(byte: number | undefined): boolean {
  return byte === OPEN_BRACE || byte === SPACE || byte === TAB;
}
