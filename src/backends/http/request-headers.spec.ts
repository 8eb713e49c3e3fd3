import { describe, expect, it } from '@jest/globals';
import { RequestHeaders } from './request-headers.js';

const asRecord = (flat: readonly string[]) =>
  Object.fromEntries(Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i], flat[2 * i + 1]]));

const URL_WITH_QUERY = new URL('http://mcp.example.com:8080/a%20path?with=query');
const headersWith = (configured: Record<string, string>) => new RequestHeaders(configured, URL_WITH_QUERY);
const fieldsOf = (head: string) =>
  head
    .split('\r\n')
    .slice(1, -1)
    .flatMap((line) => line.split(': '));

describe('RequestHeaders', () => {
  it('starts the POST head with the request line and the host', () => {
    const [line, host] = headersWith({}).postHead.split('\r\n');
    expect(line).toBe('POST /a%20path?with=query HTTP/1.1');
    expect(host).toBe('host: mcp.example.com:8080');
  });

  it('sends a configured host', () => {
    const headers = headersWith({ Host: 'other.example' });
    expect(headers.postHead.match(/^host: .*$/gim)).toEqual(['host: other.example']);
    expect(asRecord(headers.forDelete)).toMatchObject({ host: 'other.example' });
  });

  it.each(['session\r\nevil: 1', 'session\nevil', 'session\0'])('rejects the session id %j', (id) => {
    expect(() => headersWith({}).setSessionId(id)).toThrow(/header/i);
  });

  it('ignores configured values of reserved headers in any case', () => {
    const own = {
      'Content-Type': 'a',
      ACCEPT: 'b',
      'mcp-Session-Id': 'c',
      'MCP-Protocol-Version': 'd',
      'Accept-Encoding': 'gzip',
    };
    const headers = headersWith({
      ...own,
      'Content-Length': '1',
      Connection: 'close',
      Authorization: 'Bearer t',
    });
    expect(asRecord(fieldsOf(headers.postHead))).toEqual({
      host: 'mcp.example.com:8080',
      Authorization: 'Bearer t',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    });
  });

  it('sends session and protocol version with every method', () => {
    const headers = headersWith({});
    headers.setSessionId('s');
    headers.setProtocolVersion('2025-11-25');
    for (const flat of [fieldsOf(headers.postHead), headers.forGet(''), headers.forDelete])
      expect(asRecord(flat)).toMatchObject({ 'mcp-session-id': 's', 'mcp-protocol-version': '2025-11-25' });
  });

  it('sends Last-Event-ID only after an event', () => {
    const headers = headersWith({});
    expect(asRecord(headers.forGet(''))).not.toHaveProperty('last-event-id');
    expect(asRecord(headers.forGet('ñ'))['last-event-id']).toBe(Buffer.from('ñ').toString('latin1'));
  });

  it.each([{ 'bad name': 'x' }, { good: 'line\r\nbreak' }, { good: '€' }])(
    'rejects the configured header %j',
    (bad) => {
      expect(() => headersWith(bad as Record<string, string>)).toThrow(/header/i);
    },
  );
});
