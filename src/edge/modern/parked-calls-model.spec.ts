import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { advanceTime, useFakeTime } from '../../../test/kit/fake-time.js';
import { ParkingGateway, QuestionedClientCall } from '../../../test/kit/parked-call-harness.js';
import { flushPromises, type Outcome } from '../../../test/kit/promises.js';
import type { JsonText } from '../../lib/json-text/json-text.js';

useFakeTime();

const PARKED_MS = 10_000;

type Step =
  | { readonly do: 'ask' }
  | { readonly do: 'cancel' | 'answer'; readonly which: number }
  | { readonly do: 'repeat' | 'reuse' }
  | { readonly do: 'wait'; readonly ms: number };

const steps = fc.array(
  fc.oneof(
    fc.constant<Step>({ do: 'ask' }),
    fc.record({ do: fc.constantFrom('cancel' as const, 'answer' as const), which: fc.nat(3) }),
    fc.record({ do: fc.constantFrom('repeat' as const, 'reuse' as const) }),
    fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(10, 4000, 12_000) }),
  ),
  { minLength: 1, maxLength: 25 },
);

interface Question {
  readonly abort: AbortController;
  readonly outcome: Outcome<JsonText>;
}

/** The rules of the rounds in their simplest form. */
class Model {
  open: string[] = [];
  /** The questions of each response. */
  readonly asked: string[][] = [];
  state: 'running' | 'parked' | 'ended' = 'running';
  private parkedSince = 0;

  ask(key: string): void {
    this.open.push(key);
    this.park();
  }

  drop(key: string | undefined): void {
    this.open = this.open.filter((other) => other !== key);
  }

  repeat(answered: string | undefined): void {
    this.drop(answered);
    this.state = 'running';
    this.park();
  }

  timePassed(): void {
    if (this.state !== 'parked' || performance.now() - this.parkedSince < PARKED_MS) return;
    this.state = 'ended';
    this.open = [];
  }

  private park(): void {
    if (this.state !== 'running' || this.open.length === 0) return;
    this.state = 'parked';
    this.asked.push([...this.open]);
    this.parkedSince = performance.now();
  }
}

/** A call, and the model beside it. */
class Rounds {
  readonly model = new Model();
  private readonly gateway = new ParkingGateway({ parkedMs: PARKED_MS });
  private readonly call = new QuestionedClientCall(this.gateway);
  private readonly questions = new Map<string, Question>();
  /** States that were accepted or refused against the rules. */
  private readonly mistakes: string[] = [];

  async run(step: Step): Promise<void> {
    if (step.do === 'wait') await advanceTime(step.ms);
    else if (this.model.state === 'ended') this.retry({}, { isValid: false });
    else if (step.do === 'ask') this.ask();
    else if (step.do === 'cancel') this.cancel(this.model.open[step.which]);
    else if (step.do === 'reuse') this.reuse();
    else if (this.model.state === 'parked')
      this.repeat(step.do === 'answer' ? this.model.open[step.which] : undefined);
    await flushPromises();
    this.model.timePassed();
  }

  get observed(): object {
    const pending = [...this.questions].filter(
      ([, { outcome }]) => !('value' in outcome || 'error' in outcome),
    );
    return {
      asked: this.call.received.map(({ inputRequests }) => Object.keys(inputRequests)),
      parked: this.gateway.parked.size,
      hasFailed: this.call.error !== undefined,
      open: pending.map(([key]) => key),
      wrongAnswers: [...this.questions].filter(
        ([key, { outcome }]) => outcome.value && outcome.value.text !== answerTo(key),
      ),
      mistakes: this.mistakes,
    };
  }

  get expected(): object {
    const { asked, state, open } = this.model;
    const [parked, hasFailed] = [Number(state === 'parked'), state === 'ended'];
    return { asked, parked, hasFailed, open, wrongAnswers: [], mistakes: [] };
  }

  private ask(): void {
    const key = `q${this.questions.size + 1}`;
    const abort = new AbortController();
    this.questions.set(key, { abort, outcome: this.call.ask('elicitation/create', { key }, abort.signal) });
    this.model.ask(key);
  }

  private cancel(key: string | undefined): void {
    if (key !== undefined) this.questions.get(key)!.abort.abort();
    this.model.drop(key);
  }

  private repeat(key: string | undefined): void {
    this.retry(key === undefined ? {} : { [key]: JSON.parse(answerTo(key)) as object }, { isValid: true });
    this.model.repeat(key);
  }

  /** All states but the current one are refused. */
  private reuse(): void {
    const used = this.call.received.slice(0, this.model.state === 'parked' ? -1 : undefined);
    for (const { requestState: state } of used) this.retry({ q1: {} }, { isValid: false, state });
  }

  private retry(
    answers: object,
    { isValid, state }: { readonly isValid: boolean; readonly state?: string },
  ): void {
    let refusal: string | undefined;
    try {
      this.call.retry(answers, state === undefined ? {} : { state });
    } catch (error) {
      refusal = (error as Error).message;
    }
    if ((refusal === undefined) !== isValid) this.mistakes.push(refusal ?? 'an invalid state was accepted');
  }
}

const answerTo = (key: string): string => JSON.stringify({ answer: key });

describe('the rounds of a parked call', () => {
  it('follow their rules for any order of questions, answers, cancellations and waits', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const rounds = new Rounds();
        for (const step of all) {
          await rounds.run(step);
          expect(rounds.observed).toEqual(rounds.expected);
        }
      }),
      { numRuns: 200 },
    );
  });
});
