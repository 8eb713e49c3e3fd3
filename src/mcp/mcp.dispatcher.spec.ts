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
import { LATEST_REVISION } from './revisions/revision.js';

const SECRET = 'postgres://admin:hunter2@db';

/** Records the guards and handlers that ran, in order. */
@Injectable()
class CallLog {
  readonly lines: string[] = [];
}

/** Denies `test/barred` and `notifications/barred`. */
@Injectable()
class GlobalGuard implements CanActivate {
  constructor(private readonly calls: CallLog) {}

  canActivate(context: ExecutionContext): boolean {
    const { method } = context.switchToRpc().getContext<McpContext>();
    this.calls.lines.push(`global guard: ${method}`);
    return method !== 'test/barred' && method !== 'notifications/barred';
  }
}

/** Requires the password in the params. */
@Injectable()
class PasswordGuard implements CanActivate {
  constructor(
    private readonly calls: CallLog,
    @Inject('PASSWORD') private readonly password: string,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    this.calls.lines.push('password guard');
    const params = context.switchToRpc().getData<Params | undefined>();
    return params?.['password'] === this.password;
  }
}

/** Failures by name. */
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
    // oxlint-disable-next-line no-throw-literal, typescript/only-throw-error -- as a library may do
    throw SECRET;
  },
  nothing: () => Promise.reject(),
};

@McpController()
class TestController {
  constructor(private readonly calls: CallLog) {}

  @McpRequest('test/echo')
  echo(params: Params | undefined, context: McpContext): unknown {
    this.calls.lines.push('echo');
    return { params, requestId: context.requestId };
  }

  @McpRequest('test/later')
  later(): string {
    return 'a method that the revision of the test does not have';
  }

  @McpRequest('test/barred')
  barred(): string {
    this.calls.lines.push('barred');
    return 'reached';
  }

  @McpRequest('test/guarded')
  @UseGuards(PasswordGuard)
  guarded(): string {
    this.calls.lines.push('guarded');
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
    this.calls.lines.push(`noted ${String(params?.['what'])}`);
  }

  @McpNotification('notifications/barred')
  barredNote(): void {
    this.calls.lines.push('barred note');
  }

  @McpNotification('notifications/stream')
  noteStream(): Observable<unknown> {
    return throwError(() => new Error(SECRET));
  }
}

@McpController()
class SecondController {
  constructor(private readonly calls: CallLog) {}

  @McpNotification('notifications/test')
  async noted(params: Params | undefined): Promise<void> {
    if (params?.['what'] === 'broken') throw new Error(SECRET);
    this.calls.lines.push(`noted second ${String(params?.['what'])}`);
  }
}

@McpController()
class ThirdController {
  constructor(private readonly calls: CallLog) {}

  @McpNotification('notifications/test')
  noted(params: Params | undefined): void {
    this.calls.lines.push(`noted third ${String(params?.['what'])}`);
  }

  /** A handler of another transport. */
  @MessagePattern('test/elsewhere', Transport.TCP)
  elsewhere(): string {
    return 'reached';
  }
}

/** Another transport of the application. */
class OtherTransport extends McpDispatcher {
  override readonly transportId = Transport.TCP as never;
}

async function build(): Promise<INestApplication> {
  const module = await Test.createTestingModule({
    imports: [McpModule.forRoot(Tracing.OFF)],
    controllers: [TestController, SecondController, ThirdController],
    providers: [
      CallLog,
      { provide: 'PASSWORD', useValue: 'mellon' },
      { provide: APP_GUARD, useClass: GlobalGuard },
    ],
  }).compile();
  return module.createNestApplication(new FastifyAdapter(), { logger: false });
}

function contextOf(method: string, requestId?: number): McpContext {
  const channel = { notify: () => {}, sendRequest: () => Promise.reject(new Error('no client')) };
  return {
    ...channel,
    method,
    requestId,
    key: 'client',
    quotaKey: 'client',
    capabilities: {},
    logLevel: undefined,
    signal: new AbortController().signal,
    revision: { ...LATEST_REVISION, methods: { has: (name) => name !== 'test/later' } },
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
  let calls: CallLog;

  beforeAll(async () => {
    app = await build();
    await connectMcp(app);
    await app.init();
    dispatcher = app.get(McpDispatcher);
    calls = app.get(CallLog);
  });

  beforeEach(() => void calls.lines.splice(0));

  afterAll(() => app.close());

  const request = (method: string, params?: Params) =>
    dispatcher.dispatchRequest(contextOf(method, 1), params);
  const notify = (method: string, params?: Params) =>
    dispatcher.dispatchNotification(contextOf(method), params);

  it('passes params and context of a request to the handler of an injected controller', async () => {
    await expect(request('test/echo', { a: 1 })).resolves.toEqual({ params: { a: 1 }, requestId: 1 });
    expect(calls.lines).toEqual(['global guard: test/echo', 'echo']);
  });

  it('passes params unchanged, including _meta and undeclared keys', async () => {
    const params = { _meta: { progressToken: 1 }, unknown: [{}] };
    await expect(request('test/echo', params)).resolves.toEqual({ params, requestId: 1 });
    await expect(request('test/echo')).resolves.toEqual({ params: undefined, requestId: 1 });
  });

  it('answers with the last value of an observable, and with undefined if it is empty', async () => {
    await expect(request('test/stream', {})).resolves.toBe('last');
    await expect(request('test/stream', { empty: true })).resolves.toBeUndefined();
  });

  describe('guards', () => {
    it('of APP_GUARD run before every method and can deny it', async () => {
      const error = await failureOf(request('test/barred'));
      expect(error).toMatchObject({ kind: 'forbidden', text: '{"code":-32000,"message":"Not allowed"}' });
      expect(calls.lines).toEqual(['global guard: test/barred']);
    });

    it('of APP_GUARD run before notifications', async () => {
      await failureOf(notify('notifications/barred'));
      expect(calls.lines).toEqual(['global guard: notifications/barred']);
    });

    it('of one method run after those of APP_GUARD, with injected dependencies', async () => {
      await expect(request('test/guarded', { password: 'mellon' })).resolves.toBe('reached');
      expect(calls.lines).toEqual(['global guard: test/guarded', 'password guard', 'guarded']);
    });

    it('of one method can deny it', async () => {
      const error = await failureOf(request('test/guarded', { password: 'friend' }));
      expect(error.kind).toBe('forbidden');
      expect(calls.lines).toEqual(['global guard: test/guarded', 'password guard']);
    });

    it('of one method do not run before another', async () => {
      await request('test/echo');
      expect(calls.lines).not.toContain('password guard');
    });

    it('of APP_GUARD would be skipped without inheritAppConfig, which connectMcp sets', async () => {
      const withoutInheritance = await build();
      withoutInheritance.connectMicroservice(
        { strategy: withoutInheritance.get(McpDispatcher) },
        { inheritAppConfig: false },
      );
      await withoutInheritance.startAllMicroservices();
      const result = withoutInheritance
        .get(McpDispatcher)
        .dispatchRequest(contextOf('test/barred', 1), undefined);
      await expect(result).resolves.toBe('reached');
      expect(withoutInheritance.get(CallLog).lines).toEqual(['barred']);
      await withoutInheritance.close();
    });
  });

  describe('errors', () => {
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
    ])('of kind %s are answered with %s', async (how, text) => {
      const error = await failureOf(request('test/fail', { how }));
      expect(error.text).toBe(text);
      expect(`${error.message}${error.text}`).not.toContain('hunter2');
    });

    it('of a notification handler reject with a JsonRpcError', async () => {
      const error = await failureOf(notify('notifications/stream'));
      expect(error.kind).toBe('internal');
    });
  });

  describe('a method', () => {
    it.each([
      'test/unknown',
      'test/later',
      '',
      'TEST/ECHO',
      'test/echo ',
      '__proto__',
      'constructor',
      '{"a":1}',
      'test/elsewhere',
      'notifications/test',
    ])('without a handler for requests is refused: %j', async (method) => {
      const error = await failureOf(request(method));
      expect(JSON.parse(error.text)).toEqual({ code: -32601, message: `Method not found: ${method}` });
      expect(calls.lines).toEqual([]);
    });

    it('of MCP is not bound to other transports', async () => {
      const [other, shared] = [new OtherTransport(), await build()];
      shared.connectMicroservice({ strategy: other }, { inheritAppConfig: true });
      await connectMcp(shared);
      expect([...other.getHandlers().keys()]).toEqual(['test/elsewhere']);
      expect([...shared.get(McpDispatcher).getHandlers().keys()]).not.toContain('test/elsewhere');
      await shared.close();
    });
  });

  describe('a notification', () => {
    it('reaches all of its handlers', async () => {
      await notify('notifications/test', { what: 'this' });
      expect(calls.lines.filter((line) => line.startsWith('noted')).toSorted()).toEqual([
        'noted second this',
        'noted third this',
        'noted this',
      ]);
    });

    it('reaches the others when one handler fails', async () => {
      const error = await failureOf(notify('notifications/test', { what: 'broken' }));
      expect(error.kind).toBe('internal');
      expect(calls.lines).toEqual(expect.arrayContaining(['noted broken', 'noted third broken']));
    });

    it.each(['notifications/unknown', 'test/echo', '__proto__'])(
      '%j without a handler is ignored',
      async (method) => {
        await expect(notify(method)).resolves.toBeUndefined();
        expect(calls.lines).toEqual([]);
      },
    );
  });

  it('has no server to unwrap or close', () => {
    expect(dispatcher).toBeInstanceOf(Server);
    expect(() => dispatcher.unwrap()).toThrow('wraps no server');
    expect(() => dispatcher.on()).not.toThrow();
  });
});
