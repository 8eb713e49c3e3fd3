import { validateHeaderName, validateHeaderValue } from 'node:http';

/** Ours, or the connection's; a configured header of such a name is left out. */
const RESERVED = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'expect',
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
  private common: readonly string[] = [];
  private forPost = '';

  constructor(
    configured: Readonly<Record<string, string>>,
    private readonly url: URL,
  ) {
    this.configured = Object.entries(configured).flatMap(([name, value]) => {
      validateHeaderName(name);
      validateHeaderValue(name, value);
      return RESERVED.has(name.toLowerCase()) ? [] : [name, value];
    });
    this.rebuild();
  }

  get sessionId(): string | undefined {
    return this.session;
  }

  set sessionId(id: string | undefined) {
    this.session = id;
    this.rebuild();
  }

  set protocolVersion(version: string) {
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
    const common = [...this.configured, 'accept-encoding', 'identity'];
    if (this.session !== undefined) common.push('mcp-session-id', this.session);
    if (this.version !== undefined) common.push('mcp-protocol-version', this.version);
    this.common = common;
    this.forPost = this.headOf('POST', [
      ...common,
      'content-type',
      'application/json',
      'accept',
      'application/json, text/event-stream',
    ]);
  }

  private headOf(method: string, fields: readonly string[]): string {
    const { pathname, search, host } = this.url;
    const isNamed = fields.some((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
    const lines = [`${method} ${pathname}${search} HTTP/1.1`, ...(isNamed ? [] : [`host: ${host}`])];
    for (let at = 0; at < fields.length; at += 2) {
      const [name = '', value = ''] = fields.slice(at);
      // The session is the server's word, and a line break in it would begin a field of its own.
      validateHeaderValue(name, value);
      lines.push(`${name}: ${value}`);
    }
    return lines.map((line) => `${line}\r\n`).join('');
  }
}
