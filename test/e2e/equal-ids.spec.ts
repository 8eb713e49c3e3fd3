import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawSession, textIn } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';

const CLIENTS = 200;
const ROUNDS = 3;

/** Waits a random number of iterations of the event loop, so that responses are sent in another order than requests. */
async function waitRandomly(): Promise<void> {
  const iterations = Math.floor(Math.random() * 20);
  for (let n = 0; n < iterations; n++) await new Promise((resolve) => setImmediate(resolve));
}

describe('clients that all use the same ids', () => {
  let gateway: Gateway;
  let clients: RawSession[];

  beforeAll(async () => {
    const scripted = await ScriptedServer.start();
    scripted.tool('echo', async (call) => {
      call.progress(0.5);
      await waitRandomly();
      call.notify('notifications/message', { level: 'info', data: call.args['secret'] });
      return text(String(call.args['secret']));
    });
    scripted.tool('silent', async (call) => {
      await waitRandomly();
      return text(String(call.args['secret']));
    });
    const limits = { concurrency: 64, queue: 1000 };
    gateway = await startGateway({
      mcpServers: { stdio: { ...scripted.stdio(), ...limits }, http: { ...scripted.http, ...limits } },
    });
    await gateway.listed({ tools: ['stdio', 'http'] });
    clients = await Promise.all(Array.from({ length: CLIENTS }, () => RawSession.open(gateway.url)));
  });

  it.each(['stdio', 'http'])(
    `get their own answers: ${CLIENTS} clients, ${ROUNDS} rounds, every request with id 1 (%s)`,
    async (server) => {
      let misrouted = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const answers = await Promise.all(
          clients.map((client, index) =>
            client.callTool(`${server}__silent`, { secret: `${index}:${round}` }, 1),
          ),
        );
        answers.forEach((answer, index) => {
          if (answer.id !== 1 || textIn(answer) !== `${index}:${round}`) misrouted++;
        });
      }
      expect(misrouted).toBe(0);
    },
  );

  it.each(['stdio', 'http'])(
    'get their own progress, with equal progress tokens too (%s)',
    async (server) => {
      const answers = await Promise.all(
        clients.map((client, index) => {
          const call = { name: `${server}__echo`, arguments: { secret: `${index}` } };
          return client.request('tools/call', { ...call, _meta: { progressToken: 1 } }, 1);
        }),
      );
      answers.forEach(({ result, before }, index) => {
        expect(result).toEqual(text(`${index}`));
        const progress = before.filter(({ method }) => method === 'notifications/progress');
        expect(progress.map(({ params }) => params)).toEqual([{ progressToken: 1, progress: 0.5 }]);
        // A log message is delivered only to the client of its call, and dropped if the call is unknown.
        const messages = before.filter(({ method }) => method === 'notifications/message');
        for (const { params } of messages) expect(params?.['data']).toBe(`${index}`);
      });
    },
  );

  it('do not cancel the requests of other clients', async () => {
    const [one, two] = clients as [RawSession, RawSession];
    const call = two.callTool('stdio__silent', { secret: 'two' }, 'same');
    await one.notify('notifications/cancelled', { requestId: 'same' });
    expect((await call).result).toEqual(text('two'));
  });
});
