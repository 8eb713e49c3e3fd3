import { Flag, Text } from './schema/keys.js';
import type { TextRule } from './schema/shape.js';

/** Shorter tokens could be guessed. */
const TOKEN: TextRule = {
  pattern: /^[\x21-\x7e]{16,512}$/,
  requirement: 'must have 16 to 512 visible ASCII characters',
};

/** Access to the admin API. */
export class AdminSettings {
  @Text('Bearer token of administrators. By default, a generated token is stored in stateDir.', {
    rule: TOKEN,
  })
  readonly token?: string;

  @Text('Bearer token with read-only access to the admin API. Without it, there is no read-only access.', {
    rule: TOKEN,
  })
  readonly viewerToken?: string;

  @Flag('Whether stdio servers may be added or changed through the admin API.')
  readonly allowStdio: boolean = false;
}
