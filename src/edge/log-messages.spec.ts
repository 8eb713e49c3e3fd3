import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
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

class Harness {
  readonly sessions = new Sessions(new Limits());
  /** The levels set at servers, in order. */
  readonly levels: string[] = [];
  private emit: (server: string, notification: ServerNotification) => void = () => {};
  private readonly backends = {
    setLogLevel: (level: string) => this.levels.push(level),
    onNotification: (listener: typeof this.emit) => (this.emit = listener),
  };
  readonly messages = new LogMessages(
    this.sessions.recipients,
    new FanOut(),
    this.backends as unknown as Backends,
  );

  constructor() {
    this.messages.onModuleInit();
  }

  /** A session and the frames delivered to it. */
  open(level?: LoggingLevel, scope: Scope = EVERYTHING): { session: Session; frames: EventFrame[] } {
    const session = Object.assign(this.sessions.create(ANONYMOUS), { scope });
    const frames: EventFrame[] = [];
    session.deliver = (frame) => frames.push(frame);
    this.sessions.add(session);
    if (level) this.messages.setLevel(session, level);
    return { session, frames };
  }

  /** A server sends a log message that belongs to no call. */
  log(level: unknown, method = 'notifications/message'): void {
    const paramsText = level === undefined ? undefined : JSON.stringify({ level, data: 1 });
    this.emit('db', { method, params: {}, paramsText, channel: undefined });
  }
}

describe('LogMessages', () => {
  it('sends a message to every client with this or a more verbose level', () => {
    const harness = new Harness();
    const clients = (['debug', 'info', 'error'] as const).map((level) => harness.open(level));
    for (const level of ['debug', 'info', 'error']) harness.log(level);
    expect(clients.map(({ frames }) => frames.length)).toEqual([3, 2, 1]);
  });

  it('sends nothing to clients without a level or without the server in scope', () => {
    const harness = new Harness();
    const withoutLevel = harness.open();
    const outOfScope = harness.open('debug', { key: 'git', allows: (server) => server === 'git' });
    harness.log('emergency');
    expect([...withoutLevel.frames, ...outOfScope.frames]).toEqual([]);
  });

  it('encodes one event for all recipients', () => {
    const harness = new Harness();
    const clients = [harness.open('info'), harness.open('info')];
    harness.log('info');
    const [first, second] = clients.map(({ frames }) => frames[0]!.bytes);
    expect(first).toBe(second);
    expect(first!.toString()).toContain(
      'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n',
    );
  });

  it.each([['loud'], [7], [null], [undefined]])('drops a message with the unknown level %j', (level) => {
    const harness = new Harness();
    const { frames } = harness.open('debug');
    harness.log(level);
    expect(frames).toEqual([]);
  });

  it('ignores other notifications', () => {
    const harness = new Harness();
    const { frames } = harness.open('debug');
    harness.log('info', 'notifications/resources/updated');
    expect(frames).toEqual([]);
  });
});

describe('LogMessages.setLevel', () => {
  it('sets servers to the most verbose level of all clients', () => {
    const harness = new Harness();
    harness.open('notice');
    harness.open('debug');
    harness.open('error');
    expect(harness.levels).toEqual(['info', 'debug']);
  });

  it('lowers the level of servers when the session of the most verbose client closes, but not below the default', () => {
    const harness = new Harness();
    harness.open('error');
    const { session } = harness.open('debug');
    session.close();
    expect(harness.levels.at(-1)).toBe('info');
  });

  it('returns to the default without clients', () => {
    const harness = new Harness();
    const { session } = harness.open('debug');
    session.close();
    expect(harness.levels).toEqual(['debug', 'info']);
  });

  it('counts only the last level of a client that sets several', () => {
    const harness = new Harness();
    const { session } = harness.open('debug');
    harness.open('notice');
    for (const level of ['error', 'debug', 'info'] as const) harness.messages.setLevel(session, level);
    session.close();
    expect(harness.levels).toEqual(['debug', 'info', 'debug', 'info']);
  });
});

describe('the level of requests without a session', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('is set at servers once, and ends a minute after the last request with it', () => {
    const { messages, levels } = new Harness();
    const ends = [messages.beginRequest('debug'), messages.beginRequest('debug')];
    expect(levels).toEqual(['debug']);
    for (const end of ends) end();
    jest.advanceTimersByTime(59_000);
    // Another request within the minute: nothing is sent.
    const end = messages.beginRequest('debug');
    jest.advanceTimersByTime(120_000);
    end();
    jest.advanceTimersByTime(59_000);
    expect(levels).toEqual(['debug']);
    jest.advanceTimersByTime(1000);
    expect(levels).toEqual(['debug', 'info']);
  });

  it('does not lower the level that a session has set', () => {
    const harness = new Harness();
    harness.open('debug');
    harness.messages.beginRequest('error')();
    jest.advanceTimersByTime(60_000);
    expect(harness.levels).toEqual(['debug']);
  });
});
