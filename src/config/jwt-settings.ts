import { GRANT } from './api-key-config.js';
import { Flag, Text, TextList } from './schema/keys.js';
import { Rule } from './schema/rule.js';
import { isSecureUrl, SECURE_URL_SAYS } from './secure-url.js';

/** Only such where the key that verifies cannot sign. */
const ALGORITHM = {
  pattern: /^((RS|PS|ES)(256|384|512)|EdDSA|Ed25519)$/,
  says: 'must be an asymmetric algorithm such as RS256, PS256, ES256 or EdDSA',
};

const SCOPE = {
  pattern: /^[\x21\x23-\x5b\x5d-\x7e]+$/,
  says: 'must be one scope, without spaces or quotes',
};

/** Tokens of an OAuth authorization server that clients may come with. */
export class JwtSettings {
  @Rule<string>('issuer', (issuer) => isSecureUrl(issuer) && !issuer.includes('?'), SECURE_URL_SAYS)
  @Text('The authorization server whose tokens are taken, exactly as their iss claim names it.', {
    missing: 'must be given',
    open: true,
  })
  readonly issuer: string;

  @Rule<string>(
    'audience',
    (audience, jwt) => (jwt as JwtSettings).resource !== undefined || isSecureUrl(audience),
    `${SECURE_URL_SAYS}; where the issuer has another kind of audience, give the gateway's own URL as resource`,
  )
  @Text(
    "What the aud claim must hold: the gateway's URL as clients know it, such as https://mcp.example.com/mcp. " +
      'Where clients also use /projects/…/mcp, the part before the path.',
    {
      missing:
        "must be given: without it tokens for any other service would do; mostly the gateway's own URL",
      open: true,
    },
  )
  readonly audience: string;

  @Rule<string>('resource', isSecureUrl, SECURE_URL_SAYS)
  @Text("The gateway's URL as clients know it, where audience is something else.", { open: true })
  readonly resource?: string;

  @Rule<string>('jwksUri', isSecureUrl, SECURE_URL_SAYS)
  @Text("Where the issuer's keys are. Left out, the issuer's own metadata say it.", { open: true })
  readonly jwksUri?: string;

  @TextList('Algorithms a token may be signed with.', { rule: ALGORITHM, open: true })
  readonly algorithms: readonly string[] = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519'];

  @TextList('Scopes a token must have, all of them.', { rule: SCOPE, open: true })
  readonly scopes: readonly string[] = [];

  @Text('Claim that names the projects a token may use: a list, or text with spaces between.', { open: true })
  readonly projectsClaim: string = 'projects';

  @Flag('Whether "*" in that claim grants everything. Otherwise it grants nothing.')
  readonly allowAllProjects: boolean = false;

  @TextList('Projects every valid token may use, whatever it claims, or "*" for everything.', {
    rule: GRANT,
    open: true,
  })
  readonly projects: readonly string[] = [];
}
