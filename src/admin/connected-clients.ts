import { Injectable } from '@nestjs/common';
import { Listens } from '../edge/modern/listens.service.js';
import type { Listen } from '../edge/modern/listen.js';
import { publicSessionId, type Session } from '../edge/session.js';
import { Sessions } from '../edge/sessions.service.js';
import { notFound } from './admin-problem.js';

/**
 * A client that receives notifications: a session, or a listen stream. Clients of the protocol era 2026 have listen streams
 * and no sessions.
 */
export type ConnectedClient = Session | Listen;

/** All sessions and listen streams, as one list. */
@Injectable()
export class ConnectedClients {
  constructor(
    private readonly sessions: Sessions,
    private readonly listens: Listens,
  ) {}

  *all(): Iterable<ConnectedClient> {
    yield* this.sessions.all();
    yield* this.listens.all();
  }

  onOpen(listener: (client: ConnectedClient) => void): void {
    this.sessions.onOpen(listener);
    this.listens.onOpen(listener);
  }

  /** Throws a problem when there is no such client. */
  get(publicId: string): ConnectedClient {
    for (const client of this.all()) if (publicSessionId(client) === publicId) return client;
    throw notFound('session', publicId);
  }

  /** Closes the session or stream. For a session, resolves when its end is on disk, or after a timeout. Never rejects. */
  async close(client: ConnectedClient): Promise<void> {
    client.close();
    if (client.kind === 'session') await this.sessions.waitUntilPersisted();
  }
}
