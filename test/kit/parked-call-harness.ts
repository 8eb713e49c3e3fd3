import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import type { Backends } from '../../src/backends/backends.service.js';
import { Limits } from '../../src/config/limits.js';
import type { GatewayError } from '../../src/core/errors.js';
import { EVERYTHING, type Scope } from '../../src/core/scope.js';
import { JsonText } from '../../src/lib/json-text/json-text.js';
import type { ParkableCall, QuestionedCall } from '../../src/edge/modern/parkable-call.js';
import { ParkedCalls } from '../../src/edge/modern/parked-calls.js';
import { requestDigest } from '../../src/edge/modern/request-digest.js';
import { RequestStates } from '../../src/edge/modern/request-state.js';
import { inputResponsesIn } from '../../src/mcp/input-required.js';
import type { Principal } from '../../src/mcp/principal.js';
import { Metrics } from '../../src/metrics/metrics.js';
import type { Projects } from '../../src/projects/projects.service.js';
import { MemoryQuotas } from '../../src/state/memory-quotas.js';
import { RandomCursorKey } from '../../src/state/random-cursor-key.js';
import { outcomeOf } from './promises.js';

export const ALICE: Principal = { id: 'alice', grants: '*' };
export const BOB: Principal = { id: 'bob', grants: '*' };
export const PARAMS = '{"name":"tool","arguments":{"n":1}}';
const CAPABILITIES: ClientCapabilities = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} };

interface InputRequired {
  readonly resultType: string;
  readonly inputRequests: Readonly<Record<string, object>>;
  readonly requestState: string;
}

/** One server, with what the gateway knows of it. */
class ParkingServer {
  concurrency = 8;
  isolation = 'shared';
  runsOneCall = false;
  waiting = 0;
  retire: () => void = () => {};

  asBackends(): Backends {
    const backend = { id: 'server', config: this };
    Object.defineProperties(backend, {
      runsOneCall: { get: () => this.runsOneCall },
      waiting: { get: () => this.waiting },
    });
    const backends = {
      find: (id: string) => (id === 'server' ? backend : undefined),
      onRetired: (listener: (retired: { id: string }) => void) => (this.retire = () => listener(backend)),
    };
    return backends as unknown as Backends;
  }
}

/** Parked calls of one server, without the rest of the gateway. */
export class ParkingGateway {
  readonly server = new ParkingServer();
  readonly metrics = new Metrics();
  readonly states = new RequestStates(new RandomCursorKey());
  readonly parked: ParkedCalls;
  scope: Scope = EVERYTHING;

  constructor(limits: Partial<Limits> = {}) {
    this.parked = new ParkedCalls(
      Object.assign(new Limits(), limits),
      this.states,
      this.server.asBackends(),
      { scope: () => this.scope } as unknown as Projects,
      this.metrics,
      new MemoryQuotas(),
    );
    this.parked.onModuleInit();
  }

  async counted(outcome: string): Promise<number> {
    const line = new RegExp(`^gatehouse_client_questions_total\\{.*outcome="${outcome}"\\} (\\d+)$`, 'm');
    return Number(line.exec(await this.metrics.text())?.[1] ?? 0);
  }
}

/** A call of a client, and what its client has received. */
export class QuestionedClientCall implements QuestionedCall {
  readonly method: string = 'tools/call';
  readonly server = 'server';
  readonly project = undefined;
  readonly namedProjects: string[] = [];
  readonly paramsText = PARAMS;
  capabilities = CAPABILITIES;
  readonly received: InputRequired[] = [];
  error: GatewayError | undefined;
  private readonly parkable: ParkableCall;

  constructor(
    private readonly gateway: ParkingGateway,
    readonly principal = ALICE,
    readonly quotaKey = principal.id,
  ) {
    this.parkable = gateway.parked.begin(this);
  }

  digest = (): Buffer => requestDigest(this);
  park = (result: JsonText): void => void this.received.push(result.value as InputRequired);
  resume = (): void => undefined;
  leaveInFlight = (): void => undefined;
  fail = (error: GatewayError): void => void (this.error = error);

  ask(method = 'elicitation/create', params: object = {}, signal = new AbortController().signal) {
    return outcomeOf(this.parkable.ask({ method, params: JsonText.of(params) }, signal));
  }

  /** Repeats the request as the client does. */
  retry(
    inputResponses: object,
    { state = this.received.at(-1)!.requestState, params = PARAMS, principal = ALICE } = {},
  ) {
    const paramsText = JSON.stringify({
      ...(JSON.parse(params) as object),
      inputResponses,
      requestState: state,
    });
    const request = { principal, method: this.method, namedProjects: [], paramsText };
    const found = this.gateway.parked.find(state, request);
    found?.resume(inputResponsesIn(paramsText));
    return found;
  }

  finish(): void {
    this.parkable.finish();
  }
}
