import { describe, expect, it } from '@jest/globals';
import { RequestHeaders } from './request-headers.js';

const asRecord = (flat: readonly string[]) =>
  Object.fromEntries(Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i], flat[2 * i + 1]]));

describe('RequestHeaders', () => {
  it('cannot be made to lie about what is ours, in any spelling', () => {
    const own = {
      'Content-Type': 'a',
      ACCEPT: 'b',
      'mcp-Session-Id': 'c',
      'MCP-Protocol-Version': 'd',
      'Accept-Encoding': 'gzip',
    };
    const headers = new RequestHeaders({
      ...own,
      'Content-Length': '1',
      Connection: 'close',
      Authorization: 'Bearer t',
    });
    expect(asRecord(headers.post)).toEqual({
      Authorization: 'Bearer t',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    });
  });

  it('carries session and version on every kind of request', () => {
    const headers = new RequestHeaders({});
    headers.sessionId = 's';
    headers.protocolVersion = '2025-11-25';
    for (const flat of [headers.post, headers.get(''), headers.delete])
      expect(asRecord(flat)).toMatchObject({ 'mcp-session-id': 's', 'mcp-protocol-version': '2025-11-25' });
  });

  it('makes the list for requests once, not per request', () => {
    const headers = new RequestHeaders({});
    expect(headers.post).toBe(headers.post);
  });

  it('names the last event only where there is one', () => {
    const headers = new RequestHeaders({});
    expect(asRecord(headers.get(''))).not.toHaveProperty('last-event-id');
    expect(asRecord(headers.get('ñ'))['last-event-id']).toBe(Buffer.from('ñ').toString('latin1'));
  });

  it.each([{ 'bad name': 'x' }, { good: 'line\r\nbreak' }, { good: '€' }])('refuses %j at once', (bad) => {
    expect(() => new RequestHeaders(bad as Record<string, string>)).toThrow(/header/i);
  });
});
