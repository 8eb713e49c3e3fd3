import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { selfSigned } from '../kit/certificate.js';
import { onCleanup } from '../kit/cleanup.js';
import { EgressProxy } from '../kit/egress-proxy.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange, freePort } from '../kit/http.js';
import { hasPrerequisite } from '../kit/prerequisite.js';
import { exitOf, killAfterTest } from '../kit/processes.js';
import { BOTH_TYPES, RawSession } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { tempDir } from '../kit/temp-dir.js';
import { startCollector } from '../kit/trace-collector.js';
import { until } from '../kit/until.js';

const HAS_TINYPROXY = hasPrerequisite('tinyproxy', spawnSync('tinyproxy', ['-v']).error === undefined);
const CERTIFICATE = selfSigned();
const TOKEN = 'eyJhbGciOiJSUzI1NiIsImtpZCI6ImEifQ.e30.AAAA';

/** Terminates TLS in front of this port of loopback. */
async function startTlsForwarder(target: number): Promise<number> {
  const server = createServer(CERTIFICATE, (socket) => {
    const plain = connect(target, '127.0.0.1');
    socket.pipe(plain).pipe(socket);
    socket.on('error', () => plain.destroy());
    plain.on('error', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onCleanup(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Debian's tinyproxy, which sends every request on to another proxy. It resolves no name itself. */
async function startTinyproxy(upstream: EgressProxy): Promise<string> {
  const port = await freePort();
  const file = join(tempDir(), 'tinyproxy.conf');
  writeFileSync(
    file,
    `Port ${port}\nListen 127.0.0.1\nTimeout 600\nMaxClients 50\nAllow 127.0.0.1\nUpstream http 127.0.0.1:${upstream.port}\n`,
  );
  const child = spawn('tinyproxy', ['-d', '-c', file], { stdio: 'ignore' });
  killAfterTest(child, exitOf(child));
  const accepts = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
      socket.unref().setTimeout(1000, () => socket.destroy());
    });
  await until('tinyproxy listens', accepts);
  return `http://127.0.0.1:${port}`;
}

describe('requests of the gateway', () => {
  let proxy: EgressProxy;
  let scripted: ScriptedServer;
  let gateway: Gateway;
  let port: number;
  let securePort: number;
  let file: string;

  beforeAll(async () => {
    proxy = await EgressProxy.start();
    scripted = (await ScriptedServer.start()).tool('echo', () => text('done'));
    port = Number(new URL(scripted.http.url).port);
    securePort = await startTlsForwarder(port);
    file = join(tempDir(), 'ca.pem');
    writeFileSync(file, CERTIFICATE.cert);
    gateway = await startGateway(
      {
        auth: {
          apiKeys: [],
          jwt: {
            issuer: 'https://issuer.internal',
            audience: 'https://gateway.internal/mcp',
            jwksUri: 'https://issuer.internal/jwks',
          },
        },
        mcpServers: {
          plain: { url: `http://mcp.internal:${port}/mcp` },
          secure: { url: `https://mcp.internal:${securePort}/mcp`, tls: { ca: file } },
          local: scripted.http,
          gone: { url: 'https://mcp.internal:1/mcp' },
        },
      },
      {
        HTTP_PROXY: proxy.url,
        HTTPS_PROXY: proxy.url,
        NO_PROXY: 'other.internal',
      },
    );
  });

  const targets = (method: string): string[] =>
    proxy.requests.filter((request) => request.method === method).map(({ target }) => target);

  it('reach servers and the issuer of tokens through the proxies of the environment, and loopback directly', async () => {
    await exchange(gateway.url, {
      method: 'POST',
      headers: { accept: BOTH_TYPES, authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    });
    await until('the proxy was asked for all of them', () =>
      [`mcp.internal:${securePort}`, 'issuer.internal:443'].every((target) =>
        targets('CONNECT').includes(target),
      ),
    );
    await until('the proxy forwards POST and GET', () =>
      ['POST', 'GET'].every((method) => targets(method).includes(`http://mcp.internal:${port}/mcp`)),
    );
    expect(proxy.requests.some(({ target }) => target.includes('127.0.0.1'))).toBe(false);
  });

  (HAS_TINYPROXY ? it : it.skip)(
    'reach http and https servers and the trace collector through tinyproxy, with pooled calls and the notification stream (needs tinyproxy)',
    async () => {
      const tinyproxy = await startTinyproxy(proxy);
      const collector = await startCollector();
      const through = await startGateway(
        {
          mcpServers: {
            plain: { url: `http://mcp.internal:${port}/mcp`, proxy: tinyproxy },
            secure: { url: `https://mcp.internal:${securePort}/mcp`, proxy: tinyproxy, tls: { ca: file } },
          },
        },
        {
          HTTP_PROXY: tinyproxy,
          OTEL_EXPORTER_OTLP_ENDPOINT: `http://collector.internal:${collector.port}`,
          OTEL_BSP_SCHEDULE_DELAY: '100',
        },
      );
      await through.listed({ tools: ['plain', 'secure'] });
      const session = await RawSession.open(through.url);
      const results = [];
      for (const id of ['plain', 'secure'])
        for (let call = 0; call < 5; call++) results.push((await session.callTool(`${id}__echo`)).result);
      // oxlint-disable-next-line jest/no-standalone-expect -- the test is chosen by what is installed
      expect(results).toEqual(Array.from({ length: 10 }, () => text('done')));
      scripted.tool('later', () => text('later'));
      scripted.broadcast('notifications/tools/list_changed');
      await until('the list change arrived over both streams', async () => {
        const names = (await session.list('tools')).map(({ name }) => name);
        return names.includes('plain__later') && names.includes('secure__later');
      });
      await until('the spans of the calls arrived', () =>
        collector.spans.some(({ name }) => name === 'tools/call secure__echo'),
      );
      // oxlint-disable-next-line jest/no-standalone-expect -- as above
      expect(collector.via.every((via) => via?.includes('tinyproxy'))).toBe(true);
    },
  );

  it('are counted by reason when the proxy makes no connection', async () => {
    // Nothing listens on port 1, so the proxy closes the connection without an answer.
    const counted = await until('the failure is counted', async () => {
      const { text: scraped } = await exchange(gateway.urlOf('/metrics'));
      return /gatehouse_proxy_failures_total\{reason="closed"\} [1-9]/.test(scraped) && scraped;
    });
    expect(counted).toContain('gatehouse_proxy_failures_total{reason="invalid"} 0\n');
  });
});
