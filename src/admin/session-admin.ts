import { Injectable } from '@nestjs/common';
import type { Session } from '../edge/session.js';
import { Sessions } from '../edge/sessions.service.js';
import { notFound } from './admin-problem.js';
import type { Asked } from './asked.js';
import { Changes } from './changes.js';

const DIGITS = 16;

export interface SessionView {
  readonly id: string;
  readonly client?: { readonly name: string; readonly version: string };
  readonly principal: string;
  readonly project?: string;
  readonly protocolVersion: string;
  readonly opened: string;
  readonly inFlight: number;
  readonly streams: number;
}

/** Whoever knows the key of a session holds it: outside it is called by a part of the key's hash, which is its id. */
export const sessionHash = ({ id }: Pick<Session, 'id'>): string => id.slice(0, DIGITS);

/** The sessions there are, for those who administer. */
@Injectable()
export class SessionAdmin {
  constructor(
    private readonly sessions: Sessions,
    private readonly changes: Changes,
  ) {}

  all(): SessionView[] {
    return [...this.sessions.all()].map(viewOf);
  }

  async close(by: Asked, hash: string): Promise<void> {
    await this.changes.make(by, { action: 'session.close', target: hash }, () => {
      const session = [...this.sessions.all()].find((open) => sessionHash(open) === hash);
      if (!session) throw notFound('session', hash);
      return { apply: () => session.close() };
    });
  }
}

export function viewOf(session: Session): SessionView {
  const { clientInfo, project, principal, revision, openedAt, inFlight, streams } = session;
  return {
    id: sessionHash(session),
    ...(clientInfo && { client: { name: clientInfo.name, version: clientInfo.version } }),
    principal: principal.id,
    ...(project === undefined ? {} : { project }),
    protocolVersion: revision.version,
    opened: new Date(openedAt).toISOString(),
    inFlight,
    streams: streams.connected,
  };
}
