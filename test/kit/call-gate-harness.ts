import { backendQuotas, type BackendQuotas } from '../../src/backends/backend-quotas.js';
import { CallGate, type CallLimits, type QueueOptions } from '../../src/backends/call-gate.js';
import { MemoryQuotas } from '../../src/state/memory-quotas.js';

const UNLIMITED = { callsPerPrincipal: 1e6, processesPerPrincipal: 1e6, queuedPerPrincipal: 1e6 };

/** A gate whose requests the test answers. A call is named after its principal, session and number: `a/1 #2`. */
export class CallGateHarness {
  readonly running: string[] = [];
  readonly started: string[] = [];
  readonly refused: string[] = [];
  readonly outcomes = new Map<string, unknown>();
  readonly gate: CallGate;
  private readonly ends = new Map<string, () => void>();

  constructor(
    limits: CallLimits,
    quotas: Partial<typeof UNLIMITED> | BackendQuotas = {},
    keepsReserve = false,
  ) {
    const isBuilt = 'calls' in quotas;
    const built = isBuilt ? quotas : this.quotas(quotas, keepsReserve);
    this.gate = new CallGate('db', limits, built);
  }

  quotas(changed: Partial<typeof UNLIMITED>, keepsReserve = false): BackendQuotas {
    const limits = { ...UNLIMITED, ...changed };
    const refused = (limit: string): number => this.refused.push(limit);
    return backendQuotas(new MemoryQuotas(), limits, refused, () => keepsReserve);
  }

  call(name: string, options: QueueOptions = {}): void {
    const caller = { quotaKey: name.split('/')[0]!, key: name.split(' ')[0]! };
    this.settle(
      name,
      this.gate.run(caller, () => this.start(name), options),
    );
  }

  calls(count: number, name: string): void {
    for (let n = 1; n <= count; n++) this.call(`${name} #${n}`);
  }

  background(name: string, deadline = Infinity): void {
    this.settle(
      name,
      this.gate.runBackground('list', () => this.start(name), deadline),
    );
  }

  async end(name = this.running[0]!): Promise<void> {
    this.ends.get(name)!();
    this.running.splice(this.running.indexOf(name), 1);
    await nextGateIteration();
  }

  /** The names of the running requests of one principal. */
  of(principal: string): string[] {
    return this.running.filter((name) => name.startsWith(principal));
  }

  private start(name: string): Promise<string> {
    this.running.push(name);
    this.started.push(name);
    return new Promise((resolve) => this.ends.set(name, () => resolve('done')));
  }

  private settle(name: string, outcome: Promise<unknown>): void {
    outcome.then(
      (result) => this.outcomes.set(name, result),
      (error: unknown) => this.outcomes.set(name, error),
    );
  }
}

export const nextGateIteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
