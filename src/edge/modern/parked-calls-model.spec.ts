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

/** The rules of the rounds in their simplest form, beside the call that is tested. */
class Rounds {
  readonly gateway = new ParkingGateway({ parkedMs: PARKED_MS });
  readonly call = new QuestionedClientCall(this.gateway);
  readonly questions = new Map<
    string,
    { readonly abort: AbortController; readonly outcome: Outcome<JsonText> }
  >();
  open: string[] = [];
  /** The questions of each response. */
  readonly asked: string[][] = [];
  state: 'running' | 'parked' | 'ended' = 'running';
  private parkedSince = 0;

  async run(step: Step): Promise<void> {
    if (step.do === 'wait') await this.wait(step.ms);
    else if (this.state === 'ended') expect(() => this.call.retry({})).toThrow('Invalid requestState');
    else if (step.do === 'ask') this.ask();
    else if (step.do === 'cancel') this.cancel(this.open[step.which]);
    else if (step.do === 'reuse') this.reuse();
    else this.retry(step.do === 'answer' ? this.open[step.which] : undefined);
    await flushPromises();
    this.check();
  }

  private ask(): void {
    const key = `q${this.questions.size + 1}`;
    const abort = new AbortController();
    this.questions.set(key, { abort, outcome: this.call.ask('elicitation/create', { key }, abort.signal) });
    this.open.push(key);
    this.park();
  }

  private cancel(key: string | undefined): void {
    if (key === undefined) return;
    this.questions.get(key)!.abort.abort();
    this.open = this.open.filter((other) => other !== key);
  }

  private retry(key: string | undefined): void {
    if (this.state !== 'parked') return;
    this.call.retry(key === undefined ? {} : { [key]: { answer: key } });
    this.open = this.open.filter((other) => other !== key);
    this.state = 'running';
    this.park();
  }

  private reuse(): void {
    for (const { requestState: state } of this.call.received.slice(
      0,
      this.state === 'parked' ? -1 : undefined,
    ))
      expect(() => this.call.retry({ q1: {} }, { state })).toThrow('answered already');
  }

  private park(): void {
    if (this.state !== 'running' || this.open.length === 0) return;
    this.state = 'parked';
    this.asked.push([...this.open]);
    this.parkedSince = performance.now();
  }

  private async wait(ms: number): Promise<void> {
    await advanceTime(ms);
    if (this.state !== 'parked' || performance.now() - this.parkedSince < PARKED_MS) return;
    this.state = 'ended';
    this.open = [];
  }

  private check(): void {
    expect(this.call.received.map(({ inputRequests }) => Object.keys(inputRequests))).toEqual(this.asked);
    expect(this.gateway.parked.size).toBe(this.state === 'parked' ? 1 : 0);
    expect(this.call.error !== undefined).toBe(this.state === 'ended');
    const pending = [...this.questions].filter(
      ([, { outcome }]) => !('value' in outcome || 'error' in outcome),
    );
    expect(pending.map(([key]) => key)).toEqual(this.open);
    for (const [key, { outcome }] of this.questions)
      if (outcome.value) expect(outcome.value.value).toEqual({ answer: key });
  }
}

describe('the rounds of a parked call', () => {
  it('follow their rules for any order of questions, answers, cancellations and waits', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const rounds = new Rounds();
        for (const step of all) await rounds.run(step);
      }),
      { numRuns: 200 },
    );
  });
});
