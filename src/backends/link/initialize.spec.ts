import { describe, expect, it } from '@jest/globals';
import { JsonText } from '../../lib/json-text/json-text.js';
import { initializeServer } from './initialize.js';
import type { LinkRequest } from './link.js';

const OURS = { version: '1.2.3', connectTimeoutMs: 77, capabilities: { roots: {} } };
const answering = (answer: object) => (): Promise<JsonText> => Promise.resolve(JsonText.of(answer));

describe('initializeServer', () => {
  it('sends identity, capabilities and the latest revision with the connect timeout', async () => {
    const asked: LinkRequest[] = [];
    await initializeServer((request) => {
      asked.push(request);
      return answering({ protocolVersion: '2025-11-25' })();
    }, OURS);
    const [{ method, timeoutMs, params } = {}] = asked;
    expect([method, timeoutMs]).toEqual(['initialize', 77]);
    expect(JSON.parse(params!)).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: { roots: {} },
      clientInfo: { name: 'gatehouse', version: '1.2.3' },
    });
  });

  it('keeps all members of the result', async () => {
    const result = { protocolVersion: '2024-11-05', capabilities: { tools: {} }, instructions: 'x', more: 1 };
    expect(await initializeServer(answering(result), OURS)).toEqual(result);
  });

  it('takes missing capabilities for none', async () => {
    const facts = await initializeServer(answering({ protocolVersion: '2025-11-25' }), OURS);
    expect(facts.capabilities).toEqual({});
  });

  it.each(['1999-01-01', '', undefined, 7])('rejects the unknown revision %j', async (v) => {
    await expect(initializeServer(answering({ protocolVersion: v }), OURS)).rejects.toMatchObject({
      fault: 'refused',
      message: `the gateway does not support MCP revision ${v} of the server`,
    });
  });
});
