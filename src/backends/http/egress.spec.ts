import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { selfSigned } from '../../../test/kit/certificate.js';
import { onCleanup } from '../../../test/kit/cleanup.js';
import { EgressProxy } from '../../../test/kit/egress-proxy.js';
import {
  callText,
  faultOf,
  HttpHarness,
  observe,
  responseText,
  ScriptedHttpServer,
  sendJson,
  startEventStream,
  type RequestScript,
} from '../../../test/kit/http-harness.js';
import { refusalOf } from '../../../test/kit/promises.js';
import { tempDir } from '../../../test/kit/temp-dir.js';
import { EgressProxies } from '../../config/egress-proxies.js';
import { AddressPolicy } from '../address-policy.js';
import { AdminSettings } from '../../config/admin-settings.js';
import { HttpSettings } from '../../config/http-settings.js';
import { Metrics } from '../../metrics/metrics.js';
import { egressOf } from './egress.js';
import type { StreamableHttpTransport } from './streamable-http-transport.js';
import { TlsFiles } from './tls-files.js';

const causesOf = ({ message, cause }: Error): string => `${message} ${String(cause)}`;

const harness = new HttpHarness();
afterEach(harness.release);

const answer: RequestScript = ({ method, id, response }) => {
  if (method === 'GET') startEventStream(response);
  else if (method === 'DELETE') response.writeHead(200).end();
  else sendJson(response, responseText(id), 200, { 'mcp-session-id': 's1' });
};

/** An https server with this certificate that answers every call. */
async function startHttps(
  certificate: object,
): Promise<{ port: number; names: unknown[]; clients: unknown[] }> {
  const names: unknown[] = [];
  const clients: unknown[] = [];
  const server: Server = createServer(certificate, (request, response) => {
    const socket = request.socket as TLSSocket;
    names.push((socket as unknown as { servername: unknown }).servername);
    clients.push(socket.getPeerCertificate().subject?.CN);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { id } = JSON.parse(Buffer.concat(chunks).toString()) as { id: number };
      sendJson(response, responseText(id));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onCleanup(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, names, clients };
}

/** The failed connections by reason, without those that did not occur. */
const failuresOf = (proxies: EgressProxies): unknown =>
  Object.fromEntries([...proxies.failureCounts()].filter(([, count]) => count > 0));

async function failure(proxies: EgressProxies, connectTimeoutMs = 5000): Promise<string> {
  const url = 'https://mcp.internal:1/mcp';
  const egress = egressOf({ url }, { proxies, policy: undefined, tls: undefined });
  const client = harness.transportTo(url, { egress, connectTimeoutMs });
  return causesOf(await refusalOf(client.sendText(callText(1), 1)));
}

describe('egressOf', () => {
  let proxy: EgressProxy;
  beforeEach(async () => {
    proxy = await EgressProxy.start();
  });

  const transport = (
    url: string,
    { own, policy, tls }: { own?: string; policy?: AddressPolicy; tls?: TlsFiles } = {},
  ): StreamableHttpTransport => {
    const proxies = new EgressProxies({ HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url });
    const config = { url, proxy: own };
    return harness.transportTo(url, {
      egress: egressOf(config, { proxies, policy, tls }),
    });
  };

  it('sends http requests to the proxy in absolute form: POST, the GET stream and DELETE', async () => {
    const server = await ScriptedHttpServer.start(answer);
    harness.onRelease(() => server.stop());
    const url = `http://mcp.internal:${server.port}/mcp?a=1`;
    const client = transport(url, { own: proxy.url.replace('//', '//us%40er:p%3Aw@') });
    const { states } = observe(client);
    await client.sendText(callText(1), 1);
    await client.sendText(callText(2), 2);
    client.openNotificationStream();
    await states.next();
    await client.close();
    const authorization = `Basic ${Buffer.from('us@er:p:w').toString('base64')}`;
    const host = `mcp.internal:${server.port}`;
    expect(proxy.requests).toEqual(
      ['POST', 'POST', 'GET', 'DELETE'].map((method) => ({ method, target: url, host, authorization })),
    );
    expect(server.requests.all.map(({ headers }) => headers.host)).toEqual([host, host, host, host]);
  });

  it('sends https requests through one tunnel per connection, with the server name of the URL', async () => {
    const certificate = selfSigned();
    const server = await startHttps(certificate);
    const ca = join(tempDir(), 'ca.pem');
    writeFileSync(ca, certificate.cert);
    const client = transport(`https://mcp.internal:${server.port}/mcp`, { tls: new TlsFiles({ ca }) });
    await client.sendText(callText(1), 1);
    await client.sendText(callText(2), 2);
    const authority = `mcp.internal:${server.port}`;
    expect(proxy.requests).toEqual([{ method: 'CONNECT', target: authority, host: authority }]);
    expect(server.names).toEqual(['mcp.internal', 'mcp.internal']);
  });

  it.each(['http', 'https'])(
    'connects a %s server under a policy to the address that was checked',
    async (scheme) => {
      const certificate = selfSigned();
      const plain = await ScriptedHttpServer.start(answer);
      harness.onRelease(() => plain.stop());
      const secure = await startHttps(certificate);
      const port = scheme === 'http' ? plain.port : secure.port;
      const policy = new AddressPolicy(new AdminSettings(), new HttpSettings(), new Metrics());
      policy.resolve = (name) => Promise.resolve(name === 'mcp.internal' ? '192.0.2.7' : '');
      const ca = join(tempDir(), 'ca.pem');
      writeFileSync(ca, certificate.cert);
      const url = `${scheme}://mcp.internal:${port}/mcp`;
      const client = transport(url, { policy, tls: new TlsFiles({ ca }) });
      await client.sendText(callText(1), 1);
      await client.sendText(callText(2), 2);
      const target = `192.0.2.7:${port}`;
      expect(proxy.requests).toEqual([{ method: 'CONNECT', target, host: target }]);
      const hosts = plain.requests.all.map(({ headers }) => headers.host);
      expect(scheme === 'http' ? hosts : secure.names.map((name) => `${String(name)}:${port}`)).toEqual([
        `mcp.internal:${port}`,
        `mcp.internal:${port}`,
      ]);
    },
  );

  it('opens no tunnel to a server whose address the policy refuses', async () => {
    const policy = new AddressPolicy(new AdminSettings(), new HttpSettings(), new Metrics());
    const client = transport('https://169.254.169.254/mcp', { policy });
    expect(await faultOf(client.sendText(callText(1), 1))).toBe('unreachable');
    expect(proxy.requests).toEqual([]);
  });

  it('connects to loopback without a proxy', async () => {
    const server = await ScriptedHttpServer.start(answer);
    harness.onRelease(() => server.stop());
    await transport(server.url, { own: proxy.url }).sendText(callText(1), 1);
    expect(proxy.requests).toEqual([]);
  });

  it.each([
    ['an error', 'refused', 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n', 'answered HTTP 407'],
    ['more than a response', 'invalid', 'HTTP/1.1 200 OK\r\n\r\nmore', 'sent more than a response'],
    ['something else than HTTP', 'invalid', 'nonsense\r\n\r\n', 'the answer of the proxy is not HTTP'],
    ['an endless head', 'invalid', 'x'.repeat(20_000), 'is too large'],
  ])(
    'fails when the proxy answers CONNECT with %s, and counts it as %s',
    async (_what, reason, response, message) => {
      proxy.connectResponse = response;
      const proxies = new EgressProxies({ HTTPS_PROXY: proxy.url });
      expect(await failure(proxies)).toContain(message);
      expect(failuresOf(proxies)).toEqual({ [reason]: 1 });
    },
  );

  it('fails in time when the proxy does not answer CONNECT, and counts it', async () => {
    proxy.connectResponse = '';
    const proxies = new EgressProxies({ HTTPS_PROXY: proxy.url });
    expect(await failure(proxies, 50)).toContain('in time');
    expect(failuresOf(proxies)).toEqual({ timeout: 1 });
  });

  it.each(['http', 'https'])('counts a proxy that cannot be connected, for %s servers', async (scheme) => {
    const proxies = new EgressProxies({ [`${scheme}_proxy`]: 'http://127.0.0.1:1' });
    const url = `${scheme}://mcp.internal/mcp`;
    const egress = egressOf({ url }, { proxies, policy: undefined, tls: undefined });
    expect(await faultOf(harness.transportTo(url, { egress }).sendText(callText(1), 1))).toBe('unreachable');
    expect(failuresOf(proxies)).toEqual({ unreachable: 1 });
  });

  it('counts a proxy that closes the connection without an answer', async () => {
    const proxies = new EgressProxies({ HTTPS_PROXY: proxy.url });
    // The proxy connects to port 1 of this machine, where nothing listens.
    expect(await failure(proxies)).toContain('the proxy closed the connection');
    expect(failuresOf(proxies)).toEqual({ closed: 1 });
  });
});

describe('TlsFiles', () => {
  it('present a client certificate, and are read again when they change', async () => {
    const [first, second, own] = [selfSigned(), selfSigned(), selfSigned()];
    const [one, two] = await Promise.all(
      [first, second].map((certificate) =>
        startHttps({ ...certificate, ca: [own.cert], requestCert: true, rejectUnauthorized: true }),
      ),
    );
    const dir = tempDir();
    const files = { ca: join(dir, 'ca.pem'), cert: join(dir, 'c.pem'), key: join(dir, 'k.pem') };
    writeFileSync(files.ca, first.cert);
    writeFileSync(files.cert, own.cert);
    writeFileSync(files.key, own.key);
    const tls = new TlsFiles(files);
    const call = (port: number) => {
      const url = `https://127.0.0.1:${port}/mcp`;
      const options = { proxies: new EgressProxies({}), policy: undefined, tls };
      const egress = egressOf({ url }, options);
      return faultOf(harness.transportTo(url, { egress }).sendText(callText(1), 1));
    };
    expect(await call(one!.port)).toBe('done');
    expect(one!.clients).toEqual(['gatehouse-test']);
    expect(await call(two!.port)).toBe('unreachable');
    writeFileSync(files.ca, second.cert);
    expect(await call(two!.port)).toBe('done');
    expect(await call(one!.port)).toBe('unreachable');
  });

  it('fail the connection when a file is missing', async () => {
    const url = 'https://127.0.0.1:1/mcp';
    const tls = new TlsFiles({ ca: join(tempDir(), 'none.pem') });
    const egress = egressOf(
      { url },
      {
        proxies: new EgressProxies({}),
        policy: undefined,
        tls,
      },
    );
    const error = await refusalOf(harness.transportTo(url, { egress }).sendText(callText(1), 1));
    expect(causesOf(error)).toContain('ENOENT');
  });
});
