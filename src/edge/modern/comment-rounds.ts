import { runSliced, type Steps } from '../../lib/slices/run-sliced.js';
import { sliceScheduler } from '../../lib/slices/slices.js';

const RESPONSES_PER_STEP = 64;

/**
 * Writes SSE comments to many responses. A round writes one comment to each of them, in slices. `run` starts a round,
 * unless the previous one is still running.
 */
export class CommentRounds<Response> {
  private isRunning = false;

  constructor(
    private readonly responses: Iterable<Response>,
    private readonly write: (response: Response) => void,
  ) {}

  async run(): Promise<void> {
    if (this.isRunning) return;
    this.isRunning = true;
    await runSliced(this.steps(), sliceScheduler.start());
    this.isRunning = false;
  }

  private *steps(): Steps {
    let count = 0;
    for (const response of this.responses) {
      if (++count % RESPONSES_PER_STEP === 0) yield;
      this.write(response);
    }
  }
}
