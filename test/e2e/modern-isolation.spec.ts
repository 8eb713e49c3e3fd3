import { resolve } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { hashOf } from '../../src/config/api-key-config.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { ListenClient } from '../kit/listen-client.js';
import { isAlive, untilExited } from '../kit/processes.js';
import { RawModernClient, type ModernAnswer } from '../kit/raw-modern-client.js';
import { everythingOverStdio } from '../kit/real-servers.js';
import { connectModern } from '../kit/sdk-clients.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { until } from '../kit/until.js';

const MODERN = { command: process.execPath, args: [resolve('test/kit/modern-server/stdio.mjs'), 'reject'] };
const key = (id: string): object => ({ id, hash: hashOf(id), projects: ['*'] });
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

const pidIn = ({ result, error }: ModernAnswer): number => {
  if (!result) throw new Error(error?.message);
  return Number((result['content'] as readonly { readonly text: string }[])[0]!.text);
};

const handle = (name: string): Record<string, unknown> => ({ 'io.gatehouse/session': name });
const pid = async (by: RawModernClient, server: string, meta = {}): Promise<number> =>
  pidIn(await by.send('tools/call', { params: { name: `${server}__pid`, arguments: {} }, meta }).answer);

describe('a client of revision 2026-07-28 at a server with isolation: session', () => {
  let scripted: ScriptedServer;
  let gateway: Gateway;
  const servers = ['old', 'new'] as const;

  beforeAll(async () => {
    scripted = await ScriptedServer.start();
    scripted.tool('pid', ({ link }) => text(String(link.pid)));
    gateway = await startGateway({
      auth: { apiKeys: ['alice', 'bob', 'carol', 'dave'].map(key) },
      limits: { processesPerPrincipal: 3, sessionIdleMs: 6000 },
      mcpServers: {
        old: { ...scripted.stdio(), isolation: 'session' },
        new: { ...MODERN, isolation: 'session' },
      },
    });
    await gateway.listed({ tools: servers }, bearer('dave'));
  });

  const client = (name: string): RawModernClient => new RawModernClient(gateway.url, {}, bearer(name));

  it.each(servers)('has a process of its principal (%s)', async (server) => {
    const pids = await Promise.all(['alice', 'alice', 'bob'].map((name) => pid(client(name), server)));
    expect(pids[1]).toBe(pids[0]);
    expect(pids[2]).not.toBe(pids[0]);
  });

  it('has a process for each handle of its principal, up to the limit of processes', async () => {
    const carol = client('carol');
    const pids = [];
    for (const meta of [{}, handle('a'), handle('b'), handle('a')]) pids.push(await pid(carol, 'old', meta));
    expect(new Set(pids).size).toBe(3);
    expect(pids[3]).toBe(pids[1]);
    const params = { name: 'old__pid', arguments: {} };
    const refused = await carol.send('tools/call', { params, meta: handle('c') }).answer;
    expect(refused.error).toMatchObject({ code: -31029, data: { code: 'LimitExceeded', limit: 3 } });
    expect(await pid(client('bob'), 'old', handle('a'))).not.toBe(pids[1]);
    const invalid = await carol.send('tools/call', { params, meta: { 'io.gatehouse/session': 7 } }).answer;
    expect(invalid.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('io.gatehouse/session'),
    });
  });

  it('hears on its listen stream of list changes of its process, which others do not hear of', async () => {
    const CHANGED = 'notifications/tools/list_changed';
    const namesOf = async (name: string): Promise<unknown[]> => {
      const { result } = await client(name).send('tools/list').answer;
      return (result!['tools'] as readonly { readonly name: string }[]).map((tool) => tool.name);
    };
    const alicePid = await pid(client('alice'), 'old');
    for (const name of ['alice', 'bob']) expect(await namesOf(name)).not.toContain('old__later');
    const [alice, bob] = await Promise.all(
      ['alice', 'bob'].map((name) =>
        ListenClient.open(gateway.url, { toolsListChanged: true }, { headers: bearer(name) }),
      ),
    );
    scripted.tool('later', () => text('later'));
    const link = scripted.links.find((each) => each.pid === alicePid)!;
    link.send(JSON.stringify({ jsonrpc: '2.0', method: CHANGED }));
    await alice!.events.message('the change', ({ method }) => method === CHANGED);
    expect(await namesOf('alice')).toContain('old__later');
    expect(await namesOf('bob')).not.toContain('old__later');
    expect(bob!.methods).not.toContain(CHANGED);
  });

  it('loses its process after the idle time, and gets another one', async () => {
    const first = await pid(client('alice'), 'old');
    await untilExited([first]);
    const second = await pid(client('alice'), 'old');
    expect(second).not.toBe(first);
    expect(isAlive(second)).toBe(true);
  });
});

describe('an anonymous client of revision 2026-07-28 at server-everything with isolation: session', () => {
  it('lists the tools of its own process, and is asked for its roots in a call', async () => {
    const gateway = await startGateway({
      mcpServers: { everything: { ...everythingOverStdio(), isolation: 'session' } },
    });
    await gateway.listed({ tools: ['everything'] });
    const client = await connectModern(gateway.url, { roots: {} }, (own) =>
      own.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///home/ada', name: 'home' }] })),
    );
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('everything__get-roots-list');
    const roots = await until('the server has the roots', async () => {
      const { content } = await client.callTool({ name: 'everything__get-roots-list', arguments: {} });
      const listed = JSON.stringify(content);
      return listed.includes('file:///home/ada') && listed;
    });
    expect(roots).toContain('home');
  });
});
