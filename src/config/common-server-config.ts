import type { NamingStyle } from '../core/naming/naming.js';
import { NAMING_STYLES } from './naming.js';
import { Choice, Flag, Section, TextList, Whole } from './schema/keys.js';

export const ISOLATIONS = ['shared', 'exclusive', 'session'] as const;
export type Isolation = (typeof ISOLATIONS)[number];

export class ServerTools {
  @TextList("Tools, by the server's own names, that are neither listed nor callable.", { open: true })
  readonly disabled: readonly string[] = [];

  @TextList("Tools, by the server's own names, whose calls run alone on the server.", { open: true })
  readonly exclusive: readonly string[] = [];
}

export class ServerNaming {
  @Choice(NAMING_STYLES, 'Replaces naming.tools for this server.')
  readonly tools?: NamingStyle;
}

export class ServerWatch {
  @Whole(
    100,
    86_400_000,
    'Milliseconds between two looks at a resource that is subscribed to, if the server itself tells of no changes. ' +
      'Left out, nobody looks.',
  )
  readonly pollMs?: number;

  @Whole(0, 60_000, 'Milliseconds within which updates of one resource become one; the first goes at once.')
  readonly coalesceMs: number = 0;
}

/** What can be said about any server, however it is reached. */
export abstract class CommonServerConfig {
  @Flag('Whether the server is started and its tools are offered.')
  readonly enabled: boolean = true;

  @Whole(1, 1_000, 'Calls in flight at this server.')
  readonly concurrency: number = 8;

  @Whole(0, 100_000, 'Calls that wait beyond that; one more fails at once. 0 lets none wait.')
  readonly queue: number = 100;

  @Whole(1, 3_600_000, 'Milliseconds a call may take.')
  readonly timeoutMs: number = 60_000;

  @Section(ServerTools, 'Tools of this server that are treated apart.')
  readonly tools: ServerTools = new ServerTools();

  @Choice(
    ISOLATIONS,
    'What clients share: one link and its calls side by side (shared), one link and a single call at a time, so ' +
      'that whatever the server asks belongs to that call (exclusive), or nothing: a link per session, over which its ' +
      'subscriptions go too (session).',
  )
  readonly isolation: Isolation = 'shared';

  @Section(ServerWatch, 'How changes of its resources are noticed and passed on.')
  readonly watch: ServerWatch = new ServerWatch();

  @Section(ServerNaming, 'How names of this server are listed, where that differs from naming.')
  readonly naming: ServerNaming = new ServerNaming();
}
