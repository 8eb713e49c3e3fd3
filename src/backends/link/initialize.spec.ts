import { describe, expect, it } from '@jest/globals';
import { JsonText } from '../../lib/json-text/json-text.js';
import { initializeServer } from './initialize.js';
import type { LinkRequest } from './link.js';

const OPTIONS = { version: '1.2.3', connectTimeoutMs: 77, capabilities: { roots: {} } };
const respondWith = (answer: object) => (): Promise<JsonText> => Promise.resolve(JsonText.of(answer));

/** A result with so many members and elements at all levels. */
const resultWith = (count: number) => {
  const experimental = { x: Array.from({ length: count - 5 }, () => '{}') };
  return { protocolVersion: '2025-11-25', capabilities: { experimental }, pad: 'x'.repeat(40_000) };
};

describe('initializeServer', () => {
  it('sends identity, capabilities and the latest revision with the connect timeout', async () => {
    const requests: LinkRequest[] = [];
    await initializeServer((request) => {
      requests.push(request);
      return respondWith({ protocolVersion: '2025-11-25' })();
    }, OPTIONS);
    const [{ method, timeoutMs, params } = {}] = requests;
    expect([method, timeoutMs]).toEqual(['initialize', 77]);
    expect(JSON.parse(params!)).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: { roots: {} },
      clientInfo: { name: 'gatehouse', version: '1.2.3' },
    });
  });

  it('keeps all members of the result', async () => {
    const result = { protocolVersion: '2024-11-05', capabilities: { tools: {} }, instructions: 'x', more: 1 };
    expect(await initializeServer(respondWith(result), OPTIONS)).toEqual(result);
  });

  it('treats missing capabilities as none', async () => {
    const facts = await initializeServer(respondWith({ protocolVersion: '2025-11-25' }), OPTIONS);
    expect(facts.capabilities).toEqual({});
  });

  it.each(['1999-01-01', '', undefined, 7])('rejects the unknown revision %j', async (protocolVersion) => {
    await expect(initializeServer(respondWith({ protocolVersion }), OPTIONS)).rejects.toMatchObject({
      fault: 'refused',
      message: `the gateway does not support MCP revision ${protocolVersion} of the server`,
    });
  });

  it('accepts a result with 10,000 members and elements', async () => {
    const result = resultWith(10_000);
    expect(await initializeServer(respondWith(result), OPTIONS)).toEqual(result);
  });

  it('rejects a result with more than 10,000 members and elements', async () => {
    const limits: string[] = [];
    const options = { ...OPTIONS, onMemoryLimit: (limit: string) => void limits.push(limit) };
    await expect(initializeServer(respondWith(resultWith(10_001)), options)).rejects.toMatchObject({
      fault: 'too-large',
      message: 'the result of initialize has more than 10000 members and elements',
    });
    expect(limits).toEqual(['handshake-result']);
  });

  it('rejects a list of more than a megabyte, which is no result', async () => {
    const response = respondWith(['x'.repeat(1_048_576)]);
    await expect(initializeServer(response, OPTIONS)).rejects.toMatchObject({ fault: 'too-large' });
  });

  it('rejects a result of more than a megabyte', async () => {
    const result = { protocolVersion: '2025-11-25', instructions: 'x'.repeat(1_048_576) };
    const limits: string[] = [];
    const options = { ...OPTIONS, onMemoryLimit: (limit: string) => void limits.push(limit) };
    await expect(initializeServer(respondWith(result), options)).rejects.toMatchObject({
      fault: 'too-large',
      message: 'the result of initialize is over 1048576 bytes',
    });
    expect(limits).toEqual(['handshake-result']);
  });
});
