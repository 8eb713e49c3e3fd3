import { inputBudget, type IterationBudget } from './iteration-budget.js';

/** The stream that delivers the pieces of an input. While it is paused, it delivers only pieces that it has read already. */
interface InputSource {
  pause(): void;
  resume(): void;
}

/**
 * Processes the pieces of one long input within the budget of the event loop. The source is paused while pieces wait, so
 * that few of them are in memory.
 */
export class PacedInput {
  private readonly waiting: Buffer[] = [];
  private idleListener: (() => void) | undefined;

  constructor(
    private readonly source: InputSource,
    private readonly process: (piece: Buffer) => void,
    private readonly budget: IterationBudget = inputBudget,
  ) {}

  push(piece: Buffer): void {
    if (this.waiting.length === 0 && this.budget.tryRun(() => this.process(piece))) return;
    this.waiting.push(piece);
    const isFirstWaiting = this.waiting.length === 1;
    if (!isFirstWaiting) return;
    this.source.pause();
    this.budget.runLater(this.processNext);
  }

  /** Calls the listener when all pieces are processed: at once if no piece waits. */
  whenIdle(listener: () => void): void {
    if (this.waiting.length === 0) listener();
    else this.idleListener = listener;
  }

  private readonly processNext = (): void => {
    this.process(this.waiting[0]!);
    this.waiting.shift();
    if (this.waiting.length > 0) {
      this.budget.runLater(this.processNext);
      return;
    }
    this.source.resume();
    this.idleListener?.();
  };
}
