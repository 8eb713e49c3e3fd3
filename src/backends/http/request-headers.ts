import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { ForwardProxy } from './egress.js';

/** Headers that the transport sets itself or never sends. Of their configured values, only that of `host` is used. */
const RESERVED = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'proxy-authorization',
  'transfer-encoding',
  'upgrade',
]);

const isReserved = (name: string): boolean => RESERVED.has(name) || name.startsWith('mcp-param-');

/**
 * The headers of requests to one server. For undici, they are a list in which names and values alternate; for the POST client,
 * they are text.
 */
export class RequestHeaders {
  /** Changed by `setSessionId` only. */
  sessionId: string | undefined;
  /** Changed by `setProtocolVersion` only. */
  version: string | undefined;
  private readonly configured: readonly string[];
  /** The value of the Host header. */
  readonly host: string;
  /** Request line and fields of a POST, without `content-length`. */
  postHead = '';
  /** The headers of all requests, names and values alternating. */
  private common: readonly string[] = [];

  constructor(
    configured: Readonly<Record<string, string>>,
    private readonly url: URL,
    private readonly proxy?: ForwardProxy,
  ) {
    const entries = Object.entries(configured);
    this.host = entries.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? url.host;
    this.configured = entries.flatMap(([name, value]) => {
      validateHeaderName(name);
      validateHeaderValue(name, value);
      return isReserved(name.toLowerCase()) ? [] : [name, value];
    });
    this.rebuild();
  }

  /** Throws on an invalid value: a line break in an id of the server would start another header. */
  setSessionId(id: string): void {
    validateHeaderValue('mcp-session-id', id);
    this.sessionId = id;
    this.rebuild();
  }

  setProtocolVersion(version: string | undefined): void {
    if (version !== undefined) validateHeaderValue('mcp-protocol-version', version);
    this.version = version;
    this.rebuild();
  }

  /** The request target: the path with the query or, for a proxy, the whole URL. */
  get target(): string {
    const { origin, pathname, search } = this.url;
    return `${this.proxy ? origin : ''}${pathname}${search}`;
  }

  get forDelete(): string[] {
    return [...this.common];
  }

  /** Headers of the GET for an event stream, which resumes after `lastEventId` unless that is empty. */
  forGet(lastEventId: string): string[] {
    const headers = [...this.common, 'accept', 'text/event-stream'];
    // undici encodes header values as Latin-1. This conversion makes it send the UTF-8 bytes of the id.
    if (lastEventId !== '') headers.push('last-event-id', Buffer.from(lastEventId).toString('latin1'));
    return headers;
  }

  private rebuild(): void {
    // No compression, because a small compressed response could expand to a very large one.
    const common = ['host', this.host, ...this.configured, 'accept-encoding', 'identity'];
    if (this.sessionId !== undefined) common.push('mcp-session-id', this.sessionId);
    if (this.version !== undefined) common.push('mcp-protocol-version', this.version);
    if (this.proxy?.authorization !== undefined) common.push('proxy-authorization', this.proxy.authorization);
    this.common = common;
    this.postHead = postHeadOf(this.target, [
      ...common,
      'content-type',
      'application/json',
      'accept',
      'application/json, text/event-stream',
    ]);
  }
}

function postHeadOf(target: string, fields: readonly string[]): string {
  let text = `POST ${target} HTTP/1.1\r\n`;
  for (let index = 0; index < fields.length; index += 2) text += `${fields[index]}: ${fields[index + 1]}\r\n`;
  return text;
}
