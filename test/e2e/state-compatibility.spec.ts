import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { hashOf } from '../../src/config/api-key-config.js';
import { AdminClient } from '../kit/admin-client.js';
import { launchGateway, writeConfig, type Gateway } from '../kit/gateway.js';
import { launch } from '../kit/command-line.js';
import { exchange } from '../kit/http.js';
import { startSubscribableServer } from '../kit/subscribed-client.js';
import { tempDir } from '../kit/temp-dir.js';

/** The state directory of a killed gateway of version 0.1.0: decisions, sessions, audit log. */
const FIXTURE = 'test/fixtures/state-v1';
const ADMIN_TOKEN = 'fixture-admin-token';
const CLIENT_KEY = 'fixture-key';
/** The ids of the recorded sessions. */
const WHOLE_GATEWAY = 'jaMedGsldUw-8H3dS_TyXDmhGrArY4mb';
const PROJECT_DOCS = 'KuY6f5WRCSYLE7t7HWUy-dtl7paGil3f';
const UNSUBSCRIBED = 'Rmpvznwtw7wdTZ2St81-gVQfxr95tmFx';

/** Sessions expire: the recorded time of the last request becomes now. */
function refreshSessions(stateDir: string): void {
  const journal = join(stateDir, 'sessions.jsonl');
  const text = readFileSync(journal, 'utf8').replaceAll(/"seen":\d+/g, `"seen":${Date.now()}`);
  writeFileSync(journal, text);
}

describe('a state directory of version 0.1.0', () => {
  let gateway: Gateway;
  let admin: AdminClient;
  let config: string;

  beforeAll(async () => {
    const stateDir = join(tempDir(), 'state');
    cpSync(FIXTURE, stateDir, { recursive: true });
    refreshSessions(stateDir);
    const docs = await startSubscribableServer('bench://wide', 'bench://narrow');
    config = writeConfig({
      stateDir,
      admin: { token: ADMIN_TOKEN },
      auth: { apiKeys: [{ id: 'ci', hash: hashOf(CLIENT_KEY), projects: ['*'] }] },
      projects: { docs: { servers: ['docs'] } },
      mcpServers: { docs: docs.http, tools: docs.http },
    });
    gateway = launchGateway(['--config', config]);
    await gateway.listening();
    admin = new AdminClient(gateway, ADMIN_TOKEN);
  });

  const ping = async (session: string, path = '/mcp'): Promise<number> => {
    const response = await exchange(gateway.urlOf(path), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${CLIENT_KEY}`,
        'mcp-session-id': session,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    });
    return response.status;
  };

  it('restores the sessions that had subscriptions, each at its path', async () => {
    expect(await ping(WHOLE_GATEWAY)).toBe(200);
    expect(await ping(PROJECT_DOCS, '/projects/docs/mcp')).toBe(200);
    expect(await ping(UNSUBSCRIBED)).toBe(404);
  });

  it('restores every subscription with its id', async () => {
    const { json } = await admin.get('subscriptions');
    const ids = (json['subscriptions'] as { id: string }[]).map(({ id }) => id);
    expect(ids.toSorted()).toEqual(['3UQRFqsfci6f', 'ROvfZZPnQbBu', '_38-tEgCTvtE', 'aA1YPtrXl0Sj']);
  });

  it('applies the decisions about servers, tools and projects', async () => {
    const [added, tools, project] = await Promise.all([
      admin.get('servers/added'),
      admin.get('servers/tools'),
      admin.get('projects/added'),
    ]);
    expect(added.json).toMatchObject({ enabled: false, origin: 'admin' });
    expect(tools.json).toMatchObject({
      definition: { timeoutMs: 5000, tools: { disabled: ['search_records_1'] } },
    });
    expect(project.json).toMatchObject({ servers: ['docs'], description: 'Added through the API' });
  });

  it('continues the audit log without a break in its hash chain', async () => {
    expect((await admin.post('servers/docs/disable')).status).toBe(200);
    const { json, code } = await launch(['audit', 'verify', '--config', config, '-o', 'json']).done;
    expect({ json, code }).toMatchObject({ code: 0, json: { ok: true, entries: 10 } });
  });
});
