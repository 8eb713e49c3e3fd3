import { Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DecisionStore } from '../state/decision-store.js';
import { AdminController } from './admin-controller.js';
import { ChangeFeed } from './change-feed.js';

@AdminController('events')
export class EventsController {
  constructor(
    private readonly feed: ChangeFeed,
    private readonly decisions: DecisionStore,
  ) {}

  /**
   * Streams every change as a server-sent event
   *
   * @remarks The first event is `snapshot` with the revision of the decisions; `server`, `catalog`, `session`,
   * `subscription`, `project`, `decisions` and `config` follow. `draining` is the last one before the gateway stops.
   * @throws {503} The feed has its maximum number of readers, or the gateway is draining.
   */
  @Get()
  readEvents(@Res() reply: FastifyReply): void {
    this.feed.requireCapacity();
    // Fastify adds a HEAD route to every GET route, and its response must end.
    if (reply.request.method === 'HEAD') {
      void reply.header('content-type', 'text/event-stream; charset=utf-8').send();
      return;
    }
    reply.hijack();
    const { revision } = this.decisions.current;
    this.feed.open(reply.raw, { revision, at: new Date().toISOString() });
  }
}
