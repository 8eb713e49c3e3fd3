import { describe, expect, it } from '@jest/globals';
import { modernToolText } from './modern-tool-text.js';

describe('modernToolText', () => {
  it.each([
    ['{"name":"a"}', '{"name":"a"}'],
    ['{"name":"a","execution":{"taskSupport":"optional"},"n":1.0}', '{"name":"a","n":1.0}'],
    ['{"name":"a","ex\\u0065cution":{}}', '{"name":"a"}'],
    ['{"description":"\\"execution\\"","inputSchema":{"execution":1}}', undefined],
    ['{"inputSchema":{"$schema":5,"type":"object"}}', '{"inputSchema":{"type":"object"}}'],
    ['{"inputSchema":{"$schema":"x","type":"object"}}', undefined],
    ['{"outputSchema":{"type":"object","$schema":null}}', '{"outputSchema":{"type":"object"}}'],
    ['{"inputSchema":{"properties":{"$schema":{"$schema":1}}}}', undefined],
  ])('of %s', (text, expected = text) => {
    expect(modernToolText(text, text, false)).toBe(expected);
  });

  it('has the output schema that the server wrote, although that for 2025 is wrapped', () => {
    const own = '{"name":"a","outputSchema":{"type":"array","n":1.0}}';
    const wrapped = '{"name":"a","outputSchema":{"type":"object","properties":{"result":{}}}}';
    expect(modernToolText(wrapped, own, true)).toBe(own);
  });
});
