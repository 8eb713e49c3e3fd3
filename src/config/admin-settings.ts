import { isNetwork } from './network.js';
import { Flag, Text, TextList } from './schema/keys.js';
import { Rule } from './schema/rule.js';
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

  @Flag('Whether command, args, env and cwd of stdio servers may be set through the admin API.')
  readonly allowStdio: boolean = false;

  @Rule<readonly string[]>(
    'networks',
    (networks) => networks.every(isNetwork),
    'every item must be an IP address or a network like 10.0.0.0/8',
  )
  @TextList(
    'Private and loopback networks that servers added through the admin API may be in. By default, every private network is ' +
      'allowed, and loopback if the gateway itself listens on loopback. Link-local and metadata addresses are always refused.',
    { mayBeLogged: true },
  )
  readonly allowedNetworks: readonly string[] = [];
}
