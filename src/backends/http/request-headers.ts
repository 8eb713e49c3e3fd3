import { validateHeaderName, validateHeaderValue } from 'node:http';

/** Set by the transport or the connection; a configured value is ignored, except that of `host`. */
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
  'mcp-protocol-version',
  'mcp-session-id',
  'transfer-encoding',
  'upgrade',
]);

/** The header fields of requests to one server: flat lists of names and values for undici, and text for the POST client. */
export class RequestHeaders {
  /** Changed by `setSessionId` only. */
  sessionId: string | undefined;
  private version: string | undefined;
  private readonly configured: readonly string[];
  /** The value of the Host header. */
  readonly host: string;
  /** Request line and fields of a POST, without `content-length`. */
  postHead = '';
  private common: readonly string[] = [];

  constructor(
    configured: Readonly<Record<string, string>>,
    private readonly url: URL,
  ) {
    const given = Object.entries(configured);
    this.host = given.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? url.host;
    this.configured = given.flatMap(([name, value]) => {
      validateHeaderName(name);
      validateHeaderValue(name, value);
      return RESERVED.has(name.toLowerCase()) ? [] : [name, value];
    });
    this.rebuild();
  }

  /** Validated, because the server chose the id: a line break in it would start another field. */
  setSessionId(id: string): void {
    validateHeaderValue('mcp-session-id', id);
    this.sessionId = id;
    this.rebuild();
  }

  setProtocolVersion(version: string): void {
    validateHeaderValue('mcp-protocol-version', version);
    this.version = version;
    this.rebuild();
  }

  get delete(): string[] {
    return [...this.common];
  }

  /** For an event stream, resumed after `lastEventId` unless that is empty. */
  get(lastEventId: string): string[] {
    const headers = [...this.common, 'accept', 'text/event-stream'];
    // undici writes header values as Latin-1: this way the server gets the UTF-8 bytes that it sent.
    if (lastEventId !== '') headers.push('last-event-id', Buffer.from(lastEventId).toString('latin1'));
    return headers;
  }

  private rebuild(): void {
    // Nothing is decompressed, so that a small response cannot become a large one.
    const common = ['host', this.host, ...this.configured, 'accept-encoding', 'identity'];
    if (this.sessionId !== undefined) common.push('mcp-session-id', this.sessionId);
    if (this.version !== undefined) common.push('mcp-protocol-version', this.version);
    this.common = common;
    this.postHead = headOf(this.url, [
      ...common,
      'content-type',
      'application/json',
      'accept',
      'application/json, text/event-stream',
    ]);
  }
}

function headOf({ pathname, search }: URL, fields: readonly string[]): string {
  let text = `POST ${pathname}${search} HTTP/1.1\r\n`;
  for (let at = 0; at < fields.length; at += 2) text += `${fields[at]}: ${fields[at + 1]}\r\n`;
  return text;
}
