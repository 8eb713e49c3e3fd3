import { hash } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { RawSession } from '../kit/raw-session.js';
import { Scrape } from '../kit/scrape.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { deferred, until } from '../kit/until.js';

const AGENTS = 300;
const KINDS = ['stdio', 'http'] as const;
const SHARED_KEY = 'team';
const RESULTS = Array.from({ length: AGENTS }, (_, agent) => text(`${agent}`));

const keyOf = (agent: number): string => `agent-${agent}`;
const apiKey = (id: string): object => ({ id, hash: `sha256:${hash('sha256', id)}`, projects: ['*'] });

describe(`${AGENTS} agents with the default limits`, () => {
  let gateway: Gateway;
  let server: ScriptedServer;
  let allow = deferred();

  beforeAll(async () => {
    server = await ScriptedServer.start();
    server.tool('work', async ({ args }) => {
      await allow.promise;
      return text(String(args['agent']));
    });
    const ids = [SHARED_KEY, ...Array.from({ length: AGENTS }, (_, agent) => keyOf(agent))];
    gateway = await startGateway({
      auth: { apiKeys: ids.map(apiKey) },
      metrics: { public: true },
      mcpServers: { stdio: server.stdio(), http: server.http },
    });
    await gateway.listed({ tools: KINDS }, { authorization: `Bearer ${SHARED_KEY}` });
  });

  /** The results of one call per agent, each in a session of its own. They arrive while the server answers none. */
  async function callTogether(
    kind: string,
    slots: number,
    key: (agent: number) => string,
  ): Promise<unknown[]> {
    allow = deferred();
    const agents = Array.from({ length: AGENTS }, async (_, agent) => {
      const session = await RawSession.open(gateway.url, {
        headers: { authorization: `Bearer ${key(agent)}` },
      });
      return { session, agent };
    });
    const answers = (await Promise.all(agents)).map(({ session, agent }) =>
      session.callTool(`${kind}__work`, { agent }),
    );
    const all = Promise.all(answers);
    await until('all calls are at the server or in its queue', async () => {
      const { text: metrics } = await exchange(gateway.urlOf('/metrics'));
      const waiting = new Scrape(metrics).value('mcp_backend_queue_depth', { server_id: kind });
      return waiting === AGENTS - slots && server.inFlight === slots;
    }).finally(() => allow.resolve());
    return (await all).map(({ result }) => result);
  }

  // One principal that is alone leaves a sixteenth of the slots to others. These tests are first: for 30 s after the
  // others, it is not alone.
  it.each([
    ['stdio', 15],
    ['http', 60],
  ])('with one key in common all get their results from a server over %s', async (kind, slots) => {
    expect(await callTogether(kind, slots, () => SHARED_KEY)).toEqual(RESULTS);
  });

  it.each([
    ['stdio', 16],
    ['http', 64],
  ])('with a key each all get their results from a server over %s', async (kind, slots) => {
    expect(await callTogether(kind, slots, keyOf)).toEqual(RESULTS);
  });
});
