import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { authSettings } from '../../../test/kit/auth.js';
import { onCleanup } from '../../../test/kit/cleanup.js';
import { exchange } from '../../../test/kit/http.js';
import { RawSession } from '../../../test/kit/raw-session.js';
import { within } from '../../../test/kit/until.js';
import { EdgeHarness } from '../../../test/kit/edge-harness.js';
import { hashOf } from '../../config/api-key-config.js';

const AUTHORIZED = { authorization: 'Bearer secret' };

describe('AuthenticationGuard', () => {
  let edge: EdgeHarness;

  beforeEach(async () => {
    const apiKeys = [{ id: 'ci', hash: hashOf('secret'), projects: ['*'] }];
    edge = new EdgeHarness({}, {}, authSettings({ apiKeys }));
    await edge.listen();
    onCleanup(() => edge.close());
  });

  it.each(['POST', 'GET', 'DELETE'])('refuses %s without credentials', async (method) => {
    const { status, headers } = await exchange(edge.url, { method });
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toContain('Bearer');
  });

  it('lets a CORS preflight pass, which has no credentials', async () => {
    expect((await exchange(edge.url, { method: 'OPTIONS' })).status).toBe(204);
  });

  it('gives the request its principal', async () => {
    await RawSession.open(edge.url, { headers: AUTHORIZED });
    expect([...edge.sessions.all()].map(({ principal }) => principal.id)).toEqual(['key:ci']);
  });

  it('answers before a byte of the body was sent', async () => {
    const { port } = new URL(edge.url);
    const socket = connect(Number(port), '127.0.0.1');
    onCleanup(() => socket.destroy());
    socket.write('POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n');
    const [bytes] = (await within('an answer', once(socket, 'data'))) as [Buffer];
    expect(bytes.toString()).toMatch(/^HTTP\/1\.1 401 /);
  });
});
