import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { selfSigned } from '../kit/certificate.js';
import { onCleanup } from '../kit/cleanup.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { tempDir } from '../kit/temp-dir.js';

const PAYLOAD = 'é😀'.repeat(100_000);

/** Starts a TLS proxy in front of a server. The proxy counts the handshakes. */
async function startTlsProxy(url: string, certificate: { key: string; cert: string }) {
  const handshakes = { all: 0, resumed: 0, names: new Set<unknown>() };
  const server = createServer(certificate, (socket) => {
    handshakes.all++;
    handshakes.names.add(socket.servername);
    if (socket.isSessionReused()) handshakes.resumed++;
    const plain = connect(Number(new URL(url).port), '127.0.0.1');
    socket.pipe(plain).pipe(socket);
    socket.on('error', () => plain.destroy());
    plain.on('error', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onCleanup(() => server.close());
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, handshakes };
}

describe('servers over TLS', () => {
  let gateway: Gateway;
  let session: RawSession;
  let handshakes: { all: number; resumed: number; names: Set<unknown> };

  beforeAll(async () => {
    const scripted = await ScriptedServer.start();
    const waiting: (() => void)[] = [];
    scripted
      .tool('echo', ({ params }) => text(String((params['arguments'] as { message: unknown }).message)))
      .tool('meet', async () => {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (waiting.length === 4) for (const resume of waiting.splice(0)) resume();
        });
        return text('met');
      });
    const trusted = selfSigned();
    const known = await startTlsProxy(scripted.http.url, trusted);
    const untrusted = await startTlsProxy(scripted.http.url, selfSigned());
    handshakes = known.handshakes;
    const file = join(tempDir(), 'trusted.pem');
    writeFileSync(file, trusted.cert);
    gateway = await startGateway(
      {
        mcpServers: {
          known: { url: known.url },
          named: { url: known.url, headers: { Host: 'mcp.internal' } },
          untrusted: { url: untrusted.url },
        },
      },
      { NODE_EXTRA_CA_CERTS: file },
    );
    await gateway.listed({ tools: ['known', 'named'] });
    session = await RawSession.open(gateway.url);
  });

  it('get and return payloads of many TLS records', async () => {
    const { result } = await session.callTool('known__echo', { message: PAYLOAD });
    expect(result).toEqual(text(PAYLOAD));
  });

  it('get one connection per concurrent call, with resumed handshakes after the first', async () => {
    const calls = Array.from({ length: 4 }, () => session.callTool('known__meet'));
    for (const { result } of await Promise.all(calls)) expect(result).toEqual(text('met'));
    expect(handshakes.all).toBeGreaterThanOrEqual(4);
    expect(handshakes.resumed).toBeGreaterThan(0);
  });

  it('get the Host header of their config as TLS server name', async () => {
    expect(handshakes.names).toEqual(new Set([false, 'mcp.internal']));
    expect((await session.callTool('named__echo', { message: 'hello' })).result).toEqual(text('hello'));
  });

  it('are refused when their certificate is not trusted', async () => {
    const entry = await gateway.logged({ server: 'untrusted', level: 'warn' });
    expect(JSON.stringify(entry)).toContain('SELF_SIGNED_CERT');
    const { error } = await session.callTool('untrusted__echo');
    expect(error?.code).toBe(-31003);
  });
});
