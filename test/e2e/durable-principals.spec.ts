import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN } from '../kit/admin-client.js';
import { exchange } from '../kit/http.js';
import { GatewayProcesses } from '../kit/gateway-processes.js';
import { OidcIssuer, OTHER_CLIENT } from '../kit/oidc-issuer.js';
import type { RawSession } from '../kit/raw-session.js';
import type { ScriptedServer } from '../kit/scripted-server/scripted-server.js';
import {
  SubscribedClient,
  startSubscribableServer,
  subscriptionRequests,
  sendUpdate,
} from '../kit/subscribed-client.js';

const AUDIENCE = 'https://gateway.example/mcp';
const A = 'resource://docs/x://a';
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

/** The status of each kind of request in a session. */
async function statusesOf(session: RawSession, headers: Record<string, string>): Promise<number[]> {
  const inSession = { ...headers, 'mcp-session-id': session.id };
  const listening = { ...inSession, accept: 'text/event-stream' };
  return [
    (await session.post(PING, headers)).status,
    (await exchange(session.url, { headers: listening })).status,
    (await exchange(session.url, { headers: { ...listening, 'last-event-id': '1' } })).status,
    (await exchange(session.url, { method: 'DELETE', headers: inSession })).status,
  ];
}

describe('a session opened with a token of an issuer, after the gateway was killed', () => {
  let issuer: OidcIssuer;
  let docs: ScriptedServer;
  let processes: GatewayProcesses;
  let token: string;
  let id: string;
  let back: RawSession;

  const newToken = async (client?: typeof OTHER_CLIENT): Promise<Record<string, string>> =>
    bearer(await issuer.token(AUDIENCE, undefined, client));

  beforeAll(async () => {
    [issuer, docs] = await Promise.all([OidcIssuer.start(), startSubscribableServer('x://a')]);
    issuer.projects = ['red', 'blue'];
    processes = await GatewayProcesses.start({
      mcpServers: { docs: docs.http },
      projects: { red: { servers: ['docs'] }, blue: { servers: [] } },
      auth: { jwt: { issuer: issuer.url, audience: AUDIENCE } },
      admin: { token: ADMIN_TOKEN },
    });
    token = await issuer.token(AUDIENCE);
    const headers = bearer(token);
    await processes.gateway.listed({ resources: ['docs'] }, headers);
    const listener = await SubscribedClient.open(processes.gateway.url, { headers });
    id = await listener.subscribed(A);
    await processes.restart('SIGKILL');
    back = processes.sessionOf(listener);
  });

  it('is unknown to every other principal, for every kind of request', async () => {
    expect(await statusesOf(back, await newToken(OTHER_CLIENT))).toEqual([404, 404, 404, 404]);
    expect(await statusesOf(back, bearer(ADMIN_TOKEN))).toEqual([401, 401, 401, 401]);
    expect(await processes.subscriptions()).toMatchObject([{ id, server: 'docs' }]);
  });

  it('is restored for its owner, with updates for missed and new changes', async () => {
    const again = await SubscribedClient.onSession(back);
    await again.untilUpdated(A);
    sendUpdate(docs, 'x://a', { n: 1 });
    await again.untilUpdated(A, 2);
    expect(again.updates).toEqual([{ uri: A }, { uri: A, n: 1 }]);
    expect(subscriptionRequests(docs)).toEqual(['+x://a', '+x://a']);
  });

  it('stays unknown to others after its owner returned, and accepts a renewed token', async () => {
    expect((await back.post(PING, await newToken(OTHER_CLIENT))).status).toBe(404);
    expect((await back.post(PING, await newToken())).status).toBe(200);
    expect(await processes.subscriptions()).toMatchObject([{ id }]);
  });

  it('loses the subscriptions whose grants a renewed token lacks', async () => {
    issuer.projects = ['blue'];
    expect((await back.post(PING, await newToken())).status).toBe(200);
    expect(await processes.subscriptions()).toEqual([]);
  });

  it('is stored without any part of the token', () => {
    expect(processes.stored).toContain(issuer.url);
    for (const part of token.split('.')) expect(processes.stored).not.toContain(part);
  });
});
