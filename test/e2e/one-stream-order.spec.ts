import { beforeAll, describe, expect, it } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import type { Message } from '../kit/events.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { NODE } from '../kit/program.js';
import { RawSession, textIn, type Answer } from '../kit/raw-session.js';
import { Scrape } from '../kit/scrape.js';
import { until } from '../kit/until.js';

const MESSAGE = 'notifications/message';
const SERVER = fileURLToPath(new URL('../kit/logging-server.mjs', import.meta.url));
const CALLS = 100;

const isLogMessage = ({ method }: Message): boolean => method === MESSAGE;

/** A client that calls with its name, and gets log messages with the names of the clients that called. */
class NamedSession {
  private constructor(
    readonly name: string,
    private readonly server: string,
    private readonly session: RawSession,
    /** The messages of each stream so far. */
    private readonly streams: (readonly Message[])[],
  ) {}

  static async open(gateway: Gateway, name: string, server: string): Promise<NamedSession> {
    const session = await RawSession.open(gateway.url, { capabilities: { elicitation: {}, sampling: {} } });
    session.onServerRequest = ({ method }) =>
      method === 'elicitation/create'
        ? { action: 'accept', content: { name } }
        : { role: 'assistant', model: name, content: { type: 'text', text: '' } };
    await session.request('logging/setLevel', { level: 'debug' });
    const { messages } = await session.listen();
    return new NamedSession(name, server, session, [messages]);
  }

  async call(tool: string): Promise<Answer> {
    const answer = await this.session.callTool(`${this.server}__${tool}`, { name: this.name });
    this.streams.push(answer.before);
    return answer;
  }

  /** The names in the log messages so far. */
  get names(): unknown[] {
    return this.streams.flatMap((messages) =>
      messages.filter(isLogMessage).map(({ params }) => params?.['data']),
    );
  }

  /** The names of other clients in the log messages so far. */
  get foreign(): unknown[] {
    return this.names.filter((name) => name !== this.name);
  }
}

describe('messages of a server over stdio to two sessions of one principal', () => {
  let gateway: Gateway;

  beforeAll(async () => {
    const server = { command: NODE, args: [SERVER] };
    gateway = await startGateway({
      metrics: { public: true },
      mcpServers: { during: server, after: server, timer: server },
    });
    await gateway.listed({ tools: ['during', 'after', 'timer'] });
  });

  async function openBoth(server: string): Promise<[NamedSession, NamedSession]> {
    const [a, b] = await Promise.all(['a', 'b'].map((name) => NamedSession.open(gateway, name, server)));
    return [a!, b!];
  }

  async function droppedBy(server: string): Promise<number> {
    const scrape = new Scrape(await (await fetch(gateway.urlOf('/metrics'))).text());
    const labels = { server_id: server, kind: 'message' };
    return scrape.value('gatehouse_unattributed_server_messages_total', labels) ?? 0;
  }

  /** Calls in turn and at once. Each call causes one log message. Resolves when all were delivered or dropped. */
  async function callBoth(tool: string, sessions: readonly NamedSession[]): Promise<void> {
    const countOf = async (): Promise<number> =>
      sessions.flatMap(({ names }) => names).length + (await droppedBy(tool));
    const before = await countOf();
    for (let n = 0; n < CALLS; n++) await sessions[n % 2]!.call(tool);
    await Promise.all(
      sessions.map(async (session) => {
        for (let n = 0; n < CALLS / 2; n++) await session.call(tool);
      }),
    );
    await until(
      'all messages were delivered or dropped',
      async () => (await countOf()) >= before + 2 * CALLS,
    );
  }

  it('reach the client during calls in turn, as do elicitation and sampling', async () => {
    const sessions = await openBoth('during');
    for (let n = 0; n < CALLS; n++) {
      const session = sessions[n % 2]!;
      const { name } = session;
      const answer = await session.call('during');
      expect([
        textIn(answer),
        answer.before.filter(isLogMessage).map(({ params }) => params?.['data']),
      ]).toEqual([`${name} ${name}`, [name, name]]);
    }
  });

  it('reach no other client right after the response', async () => {
    const sessions = await openBoth('after');
    await callBoth('after', sessions);
    expect(sessions.map(({ foreign }) => foreign)).toEqual([[], []]);
  });

  it('reach no other client some time after the response, when the first such message came outside of calls', async () => {
    const sessions = await openBoth('timer');
    await sessions[0].call('timer');
    await until('the first message was dropped', async () => (await droppedBy('timer')) === 1);
    await callBoth('timer', sessions);
    expect(sessions.map(({ foreign }) => foreign)).toEqual([[], []]);
  });
});
