import { GRANT } from './api-key-config.js';
import { Flag, Text, TextList } from './schema/keys.js';
import { Rule } from './schema/rule.js';
import { isSecureUrl, SECURE_URL_REQUIREMENT } from './secure-url.js';

/** With an asymmetric algorithm, the key that the gateway uses to verify tokens cannot sign tokens. */
const ALGORITHM = {
  pattern: /^((RS|PS|ES)(256|384|512)|EdDSA|Ed25519)$/,
  requirement: 'must be an asymmetric algorithm such as RS256, PS256, ES256 or EdDSA',
};

const SCOPE = {
  pattern: /^[\x21\x23-\x5b\x5d-\x7e]+$/,
  requirement: 'must be one scope, without spaces or quotes',
};

/** Access tokens of an OAuth authorization server. */
export class JwtSettings {
  @Rule<string>(
    'issuer',
    (issuer) => isSecureUrl(issuer) && !issuer.includes('?'),
    `${SECURE_URL_REQUIREMENT}, and without a query`,
  )
  @Text('URL of the authorization server, exactly as in the iss claim of its tokens.', {
    missingMessage: 'is required',
    mayBeLogged: true,
  })
  readonly issuer: string;

  @Rule<string>(
    'audience',
    (audience, jwt) => (jwt as JwtSettings).resource !== undefined || isSecureUrl(audience),
    `${SECURE_URL_REQUIREMENT}; if the issuer uses another kind of audience, give the gateway's own URL as resource`,
  )
  @Text(
    'Required value of the aud claim: the URL of the gateway as clients use it, such as https://mcp.example.com/mcp. ' +
      'If clients also use /projects/…/mcp, the URL without the path.',
    {
      missingMessage:
        "is required: without it, tokens for any other service would be accepted; usually the gateway's own URL",
      mayBeLogged: true,
    },
  )
  readonly audience: string;

  @Rule<string>('resource', isSecureUrl, SECURE_URL_REQUIREMENT)
  @Text('URL of the gateway as clients use it, if audience is not this URL.', { mayBeLogged: true })
  readonly resource?: string;

  @Rule<string>('jwksUri', isSecureUrl, SECURE_URL_REQUIREMENT)
  @Text("URL of the issuer's keys. By default taken from the issuer's metadata.", { mayBeLogged: true })
  readonly jwksUri?: string;

  @TextList('Accepted signature algorithms of tokens.', { rule: ALGORITHM, mayBeLogged: true })
  readonly algorithms: readonly string[] = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519'];

  @TextList('Scopes that a token must have.', { rule: SCOPE, mayBeLogged: true })
  readonly scopes: readonly string[] = [];

  @Text('Claim with the projects that a token may use: a list, or names separated by spaces.', {
    mayBeLogged: true,
  })
  readonly projectsClaim: string = 'projects';

  @Flag('Whether "*" in the claim projectsClaim grants every server. If not, "*" grants nothing.')
  readonly allowAllProjects: boolean = false;

  @TextList('Projects that every valid token may use in addition to its claim, or "*" for every server.', {
    rule: GRANT,
    mayBeLogged: true,
  })
  readonly projects: readonly string[] = [];
}
