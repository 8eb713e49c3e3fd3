import { Injectable } from '@nestjs/common';
import type { Session } from '../edge/session.js';
import { Sessions } from '../edge/sessions.service.js';
import { notFound } from './admin-problem.js';
import type { SessionDto } from './dto/session.dto.js';
import type { AdminCaller } from './admin-caller.js';
import { AdminActions } from './admin-actions.js';

const DIGITS = 16;

/** Whoever knows the key of a session holds it: outside it is called by a part of the key's hash, which is its id. */
export const sessionHash = ({ id }: Pick<Session, 'id'>): string => id.slice(0, DIGITS);

/** The sessions there are, for those who administer. */
@Injectable()
export class SessionAdmin {
  constructor(
    private readonly sessions: Sessions,
    private readonly changes: AdminActions,
  ) {}

  all(): SessionDto[] {
    return [...this.sessions.all()].map(sessionDto);
  }

  async close(by: AdminCaller, hash: string): Promise<void> {
    await this.changes.run(by, { action: 'session.close', target: hash }, () => {
      const session = [...this.sessions.all()].find((open) => sessionHash(open) === hash);
      if (!session) throw notFound('session', hash);
      return { apply: () => session.close() };
    });
  }
}

export function sessionDto(session: Session): SessionDto {
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
