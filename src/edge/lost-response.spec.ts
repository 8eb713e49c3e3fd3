import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { parseEventId } from '../mcp/event-frame.js';
import { requestIdOfStream, responseLostFrame, responseStreamName } from './lost-response.js';

describe('responseStreamName', () => {
  it('holds the id of the request, and is part of a valid event id', () => {
    const id = fc.oneof(fc.maxSafeInteger(), fc.string({ maxLength: 16, unit: 'grapheme-ascii' }));
    fc.assert(
      fc.property(id, fc.nat(), (requestId, number) => {
        const stream = responseStreamName(number, requestId);
        expect(requestIdOfStream(stream)).toBe(requestId);
        expect(parseEventId(`17.${stream}`)).toEqual({ sequence: 17, stream });
      }),
    );
  });

  it.each([
    ['of a batch', undefined],
    ['whose id is long', 'x'.repeat(1024)],
  ])('of a request %s has no id', (_which, requestId) => {
    expect(requestIdOfStream(responseStreamName(35, requestId))).toBeUndefined();
  });

  it.each(['', '1', '1-', '1-e30', '1-bnVsbA', '1-!!'])('%s holds no id', (name) => {
    expect(requestIdOfStream(name)).toBeUndefined();
  });
});

describe('responseLostFrame', () => {
  it('is an error response to the request of the stream', () => {
    const { bytes, stream } = responseLostFrame(responseStreamName(1, 'a'));
    expect(stream).toBe('1-ImEi');
    const [, data = ''] = /^data: (.*)$/m.exec(bytes.toString()) ?? [];
    expect(JSON.parse(data)).toMatchObject({
      jsonrpc: '2.0',
      id: 'a',
      error: { code: -31009, data: { code: 'RESPONSE_LOST' } },
    });
  });
});
