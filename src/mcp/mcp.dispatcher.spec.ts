import {
  ForbiddenException,
  Inject,
  Injectable,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  type INestApplication,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { MessagePattern, RpcException, Server, Transport } from '@nestjs/microservices';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EMPTY, of, throwError, type Observable } from 'rxjs';
import { GatewayError, RemoteError } from '../core/errors.js';
import { EVERYTHING } from '../core/scope.js';
import { JsonRpcError } from './json-rpc-error.js';
import type { Params } from './json-rpc.js';
import { McpController, McpNotification, McpRequest } from './mcp.decorators.js';
import { McpDispatcher } from './mcp.dispatcher.js';
import type { McpContext } from './mcp-context.js';
import { connectMcp, McpModule } from './mcp.module.js';
import { Tracing } from './tracing.js';
import { ANONYMOUS } from './principal.js';
import { LATEST } from './revisions/revision.js';

const SECRET = 'postgres://admin:hunter2@db';

/** Everything that ran, in its order. */
@Injectable()
class Diary {
  readonly lines: string[] = [];
}

/** Stands before everything, and keeps `test/barred` shut. */
@Injectable()
class HouseGuard implements CanActivate {
  constructor(private readonly diary: Diary) {}

  canActivate(context: ExecutionContext): boolean {
    const { method } = context.switchToRpc().getContext<McpContext>();
    this.diary.lines.push(`house guard: ${method}`);
    return method !== 'test/barred' && method !== 'notifications/barred';
  }
}

/** Stands before one method, and asks for the password. */
@Injectable()
class DoorGuard implements CanActivate {
  constructor(
    private readonly diary: Diary,
    @Inject('PASSWORD') private readonly password: string,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    this.diary.lines.push('door guard');
    const params = context.switchToRpc().getData<Params | undefined>();
    return params?.['password'] === this.password;
  }
}

/** Each way to fail, by name. */
const FAILURES: Record<string, () => unknown> = {
  gateway: () => {
    throw new GatewayError('limit-exceeded', 'LimitExceeded: 3', { code: 'LimitExceeded', limit: 3 });
  },
  remote: () => {
    throw new RemoteError(-32042, 'No', '{"code":-32042, "message":"No","data":1.0}');
  },
  ready: () => {
    throw JsonRpcError.from(new GatewayError('timeout', 'Late'));
  },
  error: () => {
    throw new Error(SECRET);
  },
  rejection: () => Promise.reject(new TypeError(SECRET)),
  stream: () => throwError(() => new Error(SECRET)),
  http: () => {
    throw new ForbiddenException(SECRET);
  },
  rpc: () => {
    throw new RpcException(SECRET);
  },
  string: () => {
    // oxlint-disable-next-line no-throw-literal, typescript/only-throw-error -- what a careless library may do
    throw SECRET;
  },
  nothing: () => Promise.reject(),
};

@McpController()
class TestController {
  constructor(private readonly diary: Diary) {}

  @McpRequest('test/echo')
  echo(params: Params | undefined, context: McpContext): unknown {
    this.diary.lines.push('echo');
    return { params, requestId: context.requestId };
  }

  @McpRequest('test/barred')
  barred(): string {
    this.diary.lines.push('barred');
    return 'reached';
  }

  @McpRequest('test/guarded')
  @UseGuards(DoorGuard)
  guarded(): string {
    this.diary.lines.push('guarded');
    return 'reached';
  }

  @McpRequest('test/fail')
  fail(params: Params): unknown {
    return FAILURES[params['how'] as string]!();
  }

  @McpRequest('test/stream')
  stream(params: Params): Observable<unknown> {
    return params['empty'] === true ? EMPTY : of('first', 'last');
  }

  @McpNotification('notifications/test')
  noted(params: Params | undefined): void {
    this.diary.lines.push(`noted ${String(params?.['what'])}`);
  }

  @McpNotification('notifications/barred')
  barredNote(): void {
    this.diary.lines.push('barred note');
  }

  @McpNotification('notifications/stream')
  noteStream(): Observable<unknown> {
    return throwError(() => new Error(SECRET));
  }
}

@McpController()
class SecondController {
  constructor(private readonly diary: Diary) {}

  @McpNotification('notifications/test')
  async noted(params: Params | undefined): Promise<void> {
    if (params?.['what'] === 'broken') throw new Error(SECRET);
    this.diary.lines.push(`noted second ${String(params?.['what'])}`);
  }
}

@McpController()
class ThirdController {
  constructor(private readonly diary: Diary) {}

  @McpNotification('notifications/test')
  noted(params: Params | undefined): void {
    this.diary.lines.push(`noted third ${String(params?.['what'])}`);
  }

  /** Of another transport: MCP must not reach it. */
  @MessagePattern('test/elsewhere', Transport.TCP)
  elsewhere(): string {
    return 'reached';
  }
}

/** What any other transport of the application would be. */
class OtherTransport extends McpDispatcher {
  override readonly transportId = Transport.TCP as never;
}

async function build(): Promise<INestApplication> {
  const module = await Test.createTestingModule({
    imports: [McpModule.with(Tracing.OFF)],
    controllers: [TestController, SecondController, ThirdController],
    providers: [
      Diary,
      { provide: 'PASSWORD', useValue: 'mellon' },
      { provide: APP_GUARD, useClass: HouseGuard },
    ],
  }).compile();
  return module.createNestApplication(new FastifyAdapter(), { logger: false });
}

function contextOf(method: string, requestId?: number): McpContext {
  const channel = { notify: () => {}, sendRequest: () => Promise.reject(new Error('nobody to ask')) };
  return {
    ...channel,
    method,
    requestId,
    key: 'client',
    capabilities: {},
    logLevel: undefined,
    signal: new AbortController().signal,
    revision: LATEST,
    principal: ANONYMOUS,
    namedProjects: [],
    project: undefined,
    scope: EVERYTHING,
    paramsText: undefined,
  };
}

async function failureOf(answer: Promise<unknown>): Promise<JsonRpcError> {
  const error: unknown = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(JsonRpcError);
  return error as JsonRpcError;
}

describe('McpDispatcher', () => {
  let app: INestApplication;
  let dispatcher: McpDispatcher;
  let diary: Diary;

  beforeAll(async () => {
    app = await build();
    await connectMcp(app);
    await app.init();
    dispatcher = app.get(McpDispatcher);
    diary = app.get(Diary);
  });

  beforeEach(() => void diary.lines.splice(0));

  afterAll(() => app.close());

  const request = (method: string, params?: Params) => dispatcher.request(contextOf(method, 1), params);
  const notify = (method: string, params?: Params) => dispatcher.notification(contextOf(method), params);

  it('hands a request and its context to the handler, in a controller with its dependencies injected', async () => {
    await expect(request('test/echo', { a: 1 })).resolves.toEqual({ params: { a: 1 }, requestId: 1 });
    expect(diary.lines).toEqual(['house guard: test/echo', 'echo']);
  });

  it('hands params on as they are: _meta and keys that nobody declared included', async () => {
    const params = { _meta: { progressToken: 1 }, unknown: [{}] };
    await expect(request('test/echo', params)).resolves.toEqual({ params, requestId: 1 });
    await expect(request('test/echo')).resolves.toEqual({ params: undefined, requestId: 1 });
  });

  it('answers with the last value of a stream, and with nothing after an empty one', async () => {
    await expect(request('test/stream', {})).resolves.toBe('last');
    await expect(request('test/stream', { empty: true })).resolves.toBeUndefined();
  });

  describe('guards', () => {
    it('of the whole application run before every method, and can deny it', async () => {
      const error = await failureOf(request('test/barred'));
      expect(error).toMatchObject({ kind: 'forbidden', text: '{"code":-32000,"message":"Not allowed"}' });
      expect(diary.lines).toEqual(['house guard: test/barred']);
    });

    it('of the whole application run before notifications too', async () => {
      await failureOf(notify('notifications/barred'));
      expect(diary.lines).toEqual(['house guard: notifications/barred']);
    });

    it('of one method run there, after those of the application, with their dependencies injected', async () => {
      await expect(request('test/guarded', { password: 'mellon' })).resolves.toBe('reached');
      expect(diary.lines).toEqual(['house guard: test/guarded', 'door guard', 'guarded']);
    });

    it('of one method can deny it', async () => {
      const error = await failureOf(request('test/guarded', { password: 'friend' }));
      expect(error.kind).toBe('forbidden');
      expect(diary.lines).toEqual(['house guard: test/guarded', 'door guard']);
    });

    it('of one method do not run before another', async () => {
      await request('test/echo');
      expect(diary.lines).not.toContain('door guard');
    });

    it('would be skipped silently without inheritAppConfig: this is why connectMcp sets it', async () => {
      const careless = await build();
      careless.connectMicroservice({ strategy: careless.get(McpDispatcher) }, { inheritAppConfig: false });
      await careless.startAllMicroservices();
      const answer = careless.get(McpDispatcher).request(contextOf('test/barred', 1), undefined);
      await expect(answer).resolves.toBe('reached');
      expect(careless.get(Diary).lines).toEqual(['barred']);
      await careless.close();
    });
  });

  describe('a throw', () => {
    it.each([
      ['gateway', '{"code":-31029,"message":"LimitExceeded: 3","data":{"code":"LimitExceeded","limit":3}}'],
      ['remote', '{"code":-32042, "message":"No","data":1.0}'],
      ['ready', '{"code":-31008,"message":"Late"}'],
      ['rpc', '{"code":-32000,"message":"Not allowed"}'],
      ['error', '{"code":-32603,"message":"Internal error"}'],
      ['rejection', '{"code":-32603,"message":"Internal error"}'],
      ['stream', '{"code":-32603,"message":"Internal error"}'],
      ['http', '{"code":-32603,"message":"Internal error"}'],
      ['string', '{"code":-32603,"message":"Internal error"}'],
      ['nothing', '{"code":-32603,"message":"Internal error"}'],
    ])('of kind %s is answered with %s', async (how, text) => {
      const error = await failureOf(request('test/fail', { how }));
      expect(error.text).toBe(text);
      expect(`${error.message}${error.text}`).not.toContain('hunter2');
    });

    it('in a notification is a JSON-RPC error too, for the log', async () => {
      const error = await failureOf(notify('notifications/stream'));
      expect(error.kind).toBe('internal');
    });
  });

  describe('a method', () => {
    it.each([
      'test/unknown',
      '',
      'TEST/ECHO',
      'test/echo ',
      '__proto__',
      'constructor',
      '{"a":1}',
      'test/elsewhere',
      'notifications/test',
    ])('%j has no handler for requests', async (method) => {
      const error = await failureOf(request(method));
      expect(JSON.parse(error.text)).toEqual({ code: -32601, message: `Method not found: ${method}` });
      expect(diary.lines).toEqual([]);
    });

    it('is bound to MCP alone', async () => {
      const [other, shared] = [new OtherTransport(), await build()];
      shared.connectMicroservice({ strategy: other }, { inheritAppConfig: true });
      await connectMcp(shared);
      expect([...other.getHandlers().keys()]).toEqual(['test/elsewhere']);
      expect([...shared.get(McpDispatcher).getHandlers().keys()]).not.toContain('test/elsewhere');
      await shared.close();
    });
  });

  describe('a notification', () => {
    it('reaches every handler that takes it', async () => {
      await notify('notifications/test', { what: 'this' });
      expect(diary.lines.filter((line) => line.startsWith('noted')).toSorted()).toEqual([
        'noted second this',
        'noted third this',
        'noted this',
      ]);
    });

    it('reaches the others when one handler fails', async () => {
      const error = await failureOf(notify('notifications/test', { what: 'broken' }));
      expect(error.kind).toBe('internal');
      expect(diary.lines).toEqual(expect.arrayContaining(['noted broken', 'noted third broken']));
    });

    it.each(['notifications/unknown', 'test/echo', '__proto__'])(
      '%j that nobody takes is passed over',
      async (method) => {
        await expect(notify(method)).resolves.toBeUndefined();
        expect(diary.lines).toEqual([]);
      },
    );
  });

  it('stands on nothing that could be unwrapped, and ends without ado', () => {
    expect(dispatcher).toBeInstanceOf(Server);
    expect(() => dispatcher.unwrap()).toThrow('no server underneath');
    expect(() => dispatcher.on()).not.toThrow();
  });
});
