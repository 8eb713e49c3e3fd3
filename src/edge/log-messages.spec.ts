import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from '@jest/globals';
import { ANONYMOUS } from '../mcp/principal.js';
import type { Backends } from '../backends/backends.service.js';
import type { ServerNotification } from '../backends/link/link.js';
import { Limits } from '../config/limits.js';
import { EVERYTHING, type Scope } from '../core/scope.js';
import type { EventFrame } from '../mcp/event-frame.js';
import { FanOut } from '../mcp/fan-out.js';
import { LogMessages } from './log-messages.js';
import type { Session } from './session.js';
import { Sessions } from './sessions.service.js';

class House {
  readonly sessions = new Sessions(new Limits());
  /** The levels that servers were told, in order. */
  readonly levels: string[] = [];
  private say: (server: string, notification: ServerNotification) => void = () => {};
  private readonly backends = {
    setLogLevel: (level: string) => this.levels.push(level),
    onNotification: (listener: typeof this.say) => (this.say = listener),
  };
  readonly messages = new LogMessages(
    this.sessions.recipients,
    new FanOut(),
    this.backends as unknown as Backends,
  );

  constructor() {
    this.messages.onModuleInit();
  }

  /** A client, and the frames it is sent. */
  open(level?: LoggingLevel, scope: Scope = EVERYTHING): { session: Session; frames: EventFrame[] } {
    const session = Object.assign(this.sessions.create(ANONYMOUS), { scope });
    const frames: EventFrame[] = [];
    session.deliver = (frame) => frames.push(frame);
    this.sessions.add(session);
    if (level) this.messages.setLevel(session, level);
    return { session, frames };
  }

  /** A server logs something that belongs to no call. */
  log(level: unknown, method = 'notifications/message'): void {
    const paramsText = level === undefined ? undefined : JSON.stringify({ level, data: 1 });
    this.say('db', { method, params: {}, paramsText, channel: undefined, ambiguous: false });
  }
}

describe('a log message of no call', () => {
  it('goes to every client that asked for its level', () => {
    const house = new House();
    const clients = (['debug', 'info', 'error'] as const).map((level) => house.open(level));
    for (const level of ['debug', 'info', 'error']) house.log(level);
    expect(clients.map(({ frames }) => frames.length)).toEqual([3, 2, 1]);
  });

  it('does not go to a client that asked for nothing, or may not see the server', () => {
    const house = new House();
    const silent = house.open();
    const elsewhere = house.open('debug', { key: 'git', allows: (server) => server === 'git' });
    house.log('emergency');
    expect([...silent.frames, ...elsewhere.frames]).toEqual([]);
  });

  it('is encoded once for all who get it', () => {
    const house = new House();
    const clients = [house.open('info'), house.open('info')];
    house.log('info');
    const [first, second] = clients.map(({ frames }) => frames[0]!.bytes);
    expect(first).toBe(second);
    expect(first!.toString()).toContain(
      'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n',
    );
  });

  it.each([['loud'], [7], [null], [undefined]])('of no level we know goes nowhere: %j', (level) => {
    const house = new House();
    const { frames } = house.open('debug');
    house.log(level);
    expect(frames).toEqual([]);
  });

  it('is the only notification that goes this way', () => {
    const house = new House();
    const { frames } = house.open('debug');
    house.log('info', 'notifications/resources/updated');
    expect(frames).toEqual([]);
  });
});

describe('the level that servers are asked for', () => {
  it('is that of the most talkative client', () => {
    const house = new House();
    house.open('notice');
    house.open('debug');
    house.open('error');
    expect(house.levels).toEqual(['info', 'debug', 'debug']);
  });

  it('falls when the most talkative client goes, and not below the default', () => {
    const house = new House();
    house.open('error');
    const { session } = house.open('debug');
    session.close();
    expect(house.levels.at(-1)).toBe('info');
  });

  it('falls to the default when everybody has gone', () => {
    const house = new House();
    const { session } = house.open('debug');
    session.close();
    expect(house.levels).toEqual(['debug', 'info']);
  });

  it('is settled once for a client that goes, however often it changed its mind', () => {
    const house = new House();
    const { session } = house.open('debug');
    for (const level of ['info', 'debug'] as const) house.messages.setLevel(session, level);
    const before = house.levels.length;
    session.close();
    expect(house.levels).toHaveLength(before + 1);
  });
});
