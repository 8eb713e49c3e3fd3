import { Logger } from '@nestjs/common';
import { RemoteError, serverUnavailable, type GatewayError } from '../../core/errors.js';
import { isTimeout } from '../call-errors.js';
import type { Link } from '../link/link.js';
import { Responsiveness } from './responsiveness.js';
import type { Supervisor } from './supervisor.js';

/** Whether there is any use in sending a server something: it is wanted, its link is up, and it answers. */
export class Availability {
  private readonly logger = new Logger('Backend');
  private readonly responsiveness = new Responsiveness((hangs) => this.changed(hangs));
  /** It takes nothing new, though what it has begun goes on. */
  retired = false;

  constructor(
    private readonly server: string,
    private readonly supervisor: Pick<Supervisor, 'link' | 'state' | 'reason' | 'isReinitializing'>,
    private readonly onChange: () => void,
  ) {}

  get hangs(): boolean {
    return this.responsiveness.hangs;
  }

  /** Why there is no use in it, if there is none. */
  refusal(): GatewayError | undefined {
    const { link, state, reason, isReinitializing } = this.supervisor;
    if (this.retired) return serverUnavailable(this.server, 'it was disabled');
    // There will be a link in a moment; whoever sends waits for it.
    if (isReinitializing) return undefined;
    if (!link) return serverUnavailable(this.server, reason?.message ?? state, { cause: reason });
    return this.responsiveness.hangs ? serverUnavailable(this.server, 'it does not answer') : undefined;
  }

  /** Learns from what becomes of a call over this link. */
  follow(link: Link, answer: Promise<unknown>): void {
    // A link that one client has to itself says nothing of how the server answers the others.
    if (link !== this.supervisor.link) return;
    answer.then(
      () => this.responsiveness.answered(),
      (error: unknown) => this.unanswered(link, error),
    );
  }

  /** The link is gone, and whatever was learned of it. */
  lost(): void {
    this.responsiveness.reset();
  }

  private unanswered(link: Link, error: unknown): void {
    if (error instanceof RemoteError) this.responsiveness.answered();
    else if (isTimeout(error)) this.responsiveness.timedOut(link);
  }

  private changed(hangs: boolean): void {
    const entry = { message: hangs ? 'server does not answer' : 'server answers again', server: this.server };
    if (hangs) this.logger.warn(entry);
    else this.logger.log(entry);
    this.onChange();
  }
}
