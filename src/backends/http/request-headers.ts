import { validateHeaderName, validateHeaderValue } from 'node:http';

/** Ours, or the connection's; a configured header of such a name is left out, or goes another way. */
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

/** What every request to one server carries: flat lists of names and values as undici takes them, and text for a POST. */
export class RequestHeaders {
  private session: string | undefined;
  private version: string | undefined;
  private readonly configured: readonly string[];
  /** What requests call the server. */
  readonly host: string;
  private common: readonly string[] = [];
  private forPost = '';

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

  get sessionId(): string | undefined {
    return this.session;
  }

  /** The server's own word: a line break in it would begin a field of its own. */
  set sessionId(id: string) {
    validateHeaderValue('mcp-session-id', id);
    this.session = id;
    this.rebuild();
  }

  set protocolVersion(version: string) {
    validateHeaderValue('mcp-protocol-version', version);
    this.version = version;
    this.rebuild();
  }

  /** The beginning of a request, up to the length of its body. */
  get post(): string {
    return this.forPost;
  }

  get delete(): string[] {
    return [...this.common];
  }

  /** For a stream of events, from the event after `lastEventId` on where one is given. */
  get(lastEventId: string): string[] {
    const headers = [...this.common, 'accept', 'text/event-stream'];
    // Header values are written as Latin-1; this way the bytes on the wire are those the server sent.
    if (lastEventId !== '') headers.push('last-event-id', Buffer.from(lastEventId).toString('latin1'));
    return headers;
  }

  private rebuild(): void {
    // We never decompress: a small answer cannot become a large one.
    const common = ['host', this.host, ...this.configured, 'accept-encoding', 'identity'];
    if (this.session !== undefined) common.push('mcp-session-id', this.session);
    if (this.version !== undefined) common.push('mcp-protocol-version', this.version);
    this.common = common;
    this.forPost = headOf(this.url, [
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
