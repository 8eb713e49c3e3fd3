import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { GatewayError } from '../../core/errors.js';
import { MemoryLimitError } from '../../core/memory-limits.js';
import { JsonText } from '../../lib/json-text/json-text.js';
import { inputRequired, type InputRequest } from '../../mcp/input-required.js';
import type { CancelSignal } from '../../lib/cancellation/cancellation.js';
import type { Principal } from '../../mcp/principal.js';
import type { QuestionOutcome } from '../../metrics/metric-labels.js';
import { supportsRequest } from '../requests-to-client.js';

/** Maximum number of questions of one call that wait for an answer. */
export const MAX_QUESTIONS = 16;

/** The part of a call of a client of revision 2026-07-28 that `ParkableCall` uses. Implemented by `ModernRequest`. */
export interface QuestionedCall {
  readonly method: string;
  readonly server?: string | undefined;
  readonly project: string | undefined;
  readonly principal: Principal;
  readonly quotaKey: string;
  /** The capabilities that the latest request of the call declared. */
  readonly capabilities: ClientCapabilities;
  /** Ends the counting of the call as in flight. Does nothing if the call is not counted. */
  leaveInFlight: () => void;
  /** The `requestDigest` of the call. */
  digest(): Buffer;
  /** Answers the HTTP request with a result that has the questions. The call goes on without an HTTP request. */
  park(result: JsonText): void;
  /** Cancels the call at its server. The call fails with this error. */
  fail(error: GatewayError): void;
  /**
   * Continues the call. `retry` is the request with which the client has repeated the call. From now on, messages of the
   * call are sent in the response to `retry`. `enterInFlight` counts the call as in flight again. If `enterInFlight` throws,
   * `resume` throws too, and the call stays parked.
   */
  resume(retry: QuestionedCall, enterInFlight: () => void): void;
}

interface Question extends InputRequest {
  resolve(answer: JsonText): void;
  reject(error: Error): void;
}

/** Counts and limits parked calls. Implemented by `ParkedCalls`. */
export interface Parking {
  /**
   * Counts the call as parked until `leave`. Returns the `requestState` for its client. Throws if a limit is reached.
   */
  enter(call: ParkableCall): string;
  /** Ends the counting of a call that is not parked any more. */
  leave(call: ParkableCall, outcome: QuestionOutcome): void;
}

/**
 * The questions that a server of the 2025 era asks during one call of a client of the 2026 era. The gateway answers the
 * HTTP request of the call with the questions. The call is then parked until the client repeats its request with the
 * answers.
 */
export class ParkableCall {
  private readonly openQuestions = new Map<string, Question>();
  private lastKey = 0;
  private isScheduled = false;
  /** Number of responses with questions so far. */
  round = 0;
  isParked = false;
  /**
   * Whether the server has finished the call. If the call is parked, its outcome waits until the client repeats the
   * request.
   */
  isFinished = false;

  constructor(
    readonly id: string,
    readonly call: QuestionedCall,
    private readonly parking: Parking,
  ) {}

  /**
   * Asks the client. Resolves with its answer. Rejects if the signal is aborted, or if the call ends before the answer.
   */
  ask(request: InputRequest, signal: CancelSignal): Promise<JsonText> {
    if (signal.aborted) return Promise.reject(cancelledError());
    if (this.openQuestions.size >= MAX_QUESTIONS) return Promise.reject(tooManyError());
    const key = `q${++this.lastKey}`;
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.openQuestions.delete(key);
        signal.removeEventListener('abort', cancel);
      };
      const cancel = (): void => {
        settle();
        reject(cancelledError());
      };
      this.openQuestions.set(key, {
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

  /**
   * Call this when the client has repeated its request with answers: the call is not parked any more. Asks unanswered
   * questions again, except those that the client does not support any more. If the server has finished the call, rejects
   * unanswered questions.
   */
  resume(answers: ReadonlyMap<string, string>): void {
    this.isParked = false;
    this.parking.leave(this, 'answered');
    for (const [key, question] of this.openQuestions) {
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

  /** Rejects all questions. Cancels the call at its server, unless the server has finished it. */
  cancel(error: GatewayError): void {
    this.isParked = false;
    this.refuseAll(error);
    if (!this.isFinished) this.call.fail(error);
  }

  private refuseAll(error: Error): void {
    for (const question of this.openQuestions.values()) question.reject(error);
  }

  /**
   * Call this when the server has finished the call. A parked call stays parked until its client repeats the request.
   */
  finish(): void {
    this.isFinished = true;
    if (!this.isParked) this.refuseAll(cancelledError());
  }

  /**
   * Parks the call at the end of this event-loop iteration, so that questions that arrive together are asked together.
   */
  private schedule(): void {
    if (this.isScheduled || this.isParked || this.openQuestions.size === 0) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      if (this.openQuestions.size > 0 && !this.isParked) this.park();
    });
  }

  private park(): void {
    this.round++;
    try {
      const state = this.parking.enter(this);
      this.isParked = true;
      this.call.park(inputRequired(this.openQuestions, state));
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
