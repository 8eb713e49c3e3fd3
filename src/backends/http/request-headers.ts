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

/** What every request to one server carries, as the flat name-value lists undici takes without a look-up. */
export class RequestHeaders {
  private session: string | undefined;
  private version: string | undefined;
  private readonly configured: readonly string[];
  private common: readonly string[] = [];
  private forPost: string[] = [];

  constructor(configured: Readonly<Record<string, string>>) {
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

  get post(): string[] {
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
    this.forPost = [
      ...common,
      'content-type',
      'application/json',
      'accept',
      'application/json, text/event-stream',
    ];
  }
}
