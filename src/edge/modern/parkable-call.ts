import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { GatewayError } from '../../core/errors.js';
import { MemoryLimitError } from '../../core/memory-limits.js';
import { JsonText } from '../../lib/json-text/json-text.js';
import { inputRequired, type InputRequest } from '../../mcp/input-required.js';
import type { CancelSignal } from '../../lib/cancellation/cancellation.js';
import type { Principal } from '../../mcp/principal.js';
import type { QuestionOutcome } from '../../metrics/metric-labels.js';
import { supportsRequest } from '../requests-to-client.js';

/** Maximum questions of one call that wait for the client. */
export const MAX_QUESTIONS = 16;

/** What `ParkableCall` uses of the call of a client of revision 2026-07-28. Implemented by `ModernRequest`. */
export interface QuestionedCall {
  readonly method: string;
  readonly server?: string | undefined;
  readonly project: string | undefined;
  readonly principal: Principal;
  readonly quotaKey: string;
  /** What the latest request of the call declared. */
  readonly capabilities: ClientCapabilities;
  /** Ends the counting as in flight. Does nothing while the call does not count. */
  leaveInFlight: () => void;
  /** See `requestDigest`. */
  digest(): Buffer;
  /** Answers the request with a result. The call goes on without an exchange. */
  park(result: JsonText): void;
  /** Cancels the call at its server. It fails with this error. */
  fail(error: GatewayError): void;
  /**
   * Continues the call, which from now on answers `retry`: the request with which the client repeats this one. `enterInFlight`
   * counts the call as in flight again; if it throws, so does this method, and the call stays parked.
   */
  resume(retry: QuestionedCall, enterInFlight: () => void): void;
}

interface Question extends InputRequest {
  resolve(answer: JsonText): void;
  reject(error: Error): void;
}

/** Limits calls that are parked. Implemented by `ParkedCalls`. */
export interface Parking {
  /** Counts the call until `leave`, and returns the state for its client. Throws when a limit is reached. */
  enter(call: ParkableCall): string;
  leave(call: ParkableCall, outcome: QuestionOutcome): void;
}

/**
 * The questions of a server of 2025 during one call of a client of 2026. The gateway answers the HTTP request of the call with
 * the questions. The call is then parked, until the client repeats its request with the answers.
 */
export class ParkableCall {
  private readonly open = new Map<string, Question>();
  private lastKey = 0;
  private isScheduled = false;
  /** Counts the responses with questions. */
  round = 0;
  isParked = false;
  /** Whether the server has finished the call. Its outcome waits for the client. */
  isFinished = false;

  constructor(
    readonly id: string,
    readonly call: QuestionedCall,
    private readonly parking: Parking,
  ) {}

  get questions(): number {
    return this.open.size;
  }

  /** Resolves with the answer of the client. Rejects when the signal aborts, or the call is no longer parked or running. */
  ask(request: InputRequest, signal: CancelSignal): Promise<JsonText> {
    if (signal.aborted) return Promise.reject(cancelledError());
    if (this.open.size >= MAX_QUESTIONS) return Promise.reject(tooManyError());
    const key = `q${++this.lastKey}`;
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.open.delete(key);
        signal.removeEventListener('abort', cancel);
      };
      const cancel = (): void => {
        settle();
        reject(cancelledError());
      };
      this.open.set(key, {
        ...request,
        resolve: (answer) => {
          settle();
          resolve(answer);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      });
      signal.addEventListener('abort', cancel, { once: true });
      this.schedule();
    });
  }

  /** The client has repeated its request: the call has an exchange again. Questions without an answer are asked again. */
  resume(answers: ReadonlyMap<string, string>): void {
    this.isParked = false;
    this.parking.leave(this, 'answered');
    for (const [key, question] of this.open) {
      const answer = answers.get(key);
      if (answer !== undefined) question.resolve(new JsonText(answer));
      else if (!supportsRequest(this.call.capabilities, question.method, question.params))
        question.reject(
          new GatewayError('method-not-found', `The client does not support ${question.method}`),
        );
    }
    if (this.isFinished) this.refuseAll(cancelledError());
    this.schedule();
  }

  /** Refuses the questions, and cancels the call unless its server has finished it. */
  cancel(error: GatewayError): void {
    this.isParked = false;
    this.refuseAll(error);
    if (!this.isFinished) this.call.fail(error);
  }

  private refuseAll(error: Error): void {
    for (const question of this.open.values()) question.reject(error);
  }

  /** To be called when the server has finished the call. A parked call stays until its client repeats the request. */
  finish(): void {
    this.isFinished = true;
    if (!this.isParked) this.refuseAll(cancelledError());
  }

  /** Questions that arrive together are asked together. */
  private schedule(): void {
    if (this.isScheduled || this.isParked || this.open.size === 0) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      if (this.open.size > 0 && !this.isParked) this.park();
    });
  }

  private park(): void {
    this.round++;
    try {
      const state = this.parking.enter(this);
      this.isParked = true;
      this.call.park(inputRequired(this.open, state));
    } catch (error) {
      this.cancel(error as GatewayError);
    }
  }
}

const cancelledError = (): GatewayError => new GatewayError('cancelled', 'The request was cancelled');

const tooManyError = (): MemoryLimitError =>
  new MemoryLimitError(
    'client-requests',
    MAX_QUESTIONS,
    `${MAX_QUESTIONS} requests wait for the response of this client`,
  );
