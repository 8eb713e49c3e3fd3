import { Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DecisionStore } from '../state/decision-store.js';
import { AdminController } from './admin-controller.js';
import { ChangeFeed } from './change-feed.js';

@AdminController('events')
export class EventsController {
  constructor(
    private readonly feed: ChangeFeed,
    private readonly state: DecisionStore,
  ) {}

  /** A stream of server-sent events that ends when either side has had enough. */
  @Get()
  open(@Res() reply: FastifyReply): void {
    this.feed.requireCapacity();
    // Every GET comes with a HEAD, and one without a body would never end.
    if (reply.request.method === 'HEAD') {
      void reply.header('content-type', 'text/event-stream; charset=utf-8').send();
      return;
    }
    reply.hijack();
    const { revision } = this.state.current;
    this.feed.open(reply.raw, { revision, at: new Date().toISOString() });
  }
}
