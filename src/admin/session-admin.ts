import { Injectable } from '@nestjs/common';
import type { Session } from '../edge/session.js';
import { Sessions } from '../edge/sessions.service.js';
import { notFound } from './admin-problem.js';
import type { SessionDto } from './dto/session.dto.js';
import type { AdminCaller } from './admin-caller.js';
import { AdminActions } from './admin-actions.js';

const PUBLIC_ID_DIGITS = 16;

/** The id of a session in the admin API: the first digits of its id, which is a hash of the secret `Mcp-Session-Id`. */
export const publicSessionId = ({ id }: Pick<Session, 'id'>): string => id.slice(0, PUBLIC_ID_DIGITS);

/** Lists and closes sessions for administrators. */
@Injectable()
export class SessionAdmin {
  constructor(
    private readonly sessions: Sessions,
    private readonly actions: AdminActions,
  ) {}

  all(): SessionDto[] {
    return [...this.sessions.all()].map(sessionDto);
  }

  async close(caller: AdminCaller, publicId: string): Promise<void> {
    await this.actions.run(caller, { action: 'session.close', target: publicId }, () => {
      const session = [...this.sessions.all()].find((open) => publicSessionId(open) === publicId);
      if (!session) throw notFound('session', publicId);
      return { apply: () => session.close() };
    });
  }
}

export function sessionDto(session: Session): SessionDto {
  const { clientInfo, project, principal, revision, openedAt, inFlight, streams } = session;
  return {
    id: publicSessionId(session),
    ...(clientInfo && { client: { name: clientInfo.name, version: clientInfo.version } }),
    principal: principal.id,
    ...(project === undefined ? {} : { project }),
    protocolVersion: revision.version,
    opened: new Date(openedAt).toISOString(),
    inFlight,
    streams: streams.connectedCount,
  };
}
