import { Flag, Text } from './schema/keys.js';
import type { TextRule } from './schema/shape.js';

/** What somebody could guess is no token. */
const TOKEN: TextRule = {
  pattern: /^[\x21-\x7e]{16,512}$/,
  says: 'must have 16 to 512 visible ASCII characters',
};

/** Who may administer the gateway, and how far. */
export class AdminSettings {
  @Text('Bearer token of administrators. Left out, one is generated into stateDir.', { rule: TOKEN })
  readonly token?: string;

  @Text('Bearer token of those who may look and not touch. Left out, there are none.', { rule: TOKEN })
  readonly viewerToken?: string;

  @Flag('Whether a server that runs a command may be added or changed through the admin API.')
  readonly allowStdio: boolean = false;
}
