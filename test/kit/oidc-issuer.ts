import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';
import { onCleanup } from './cleanup.js';
import { within } from './until.js';

export const CLIENT = { id: 'agent', secret: 'a secret that only the tests have' };
export const OTHER_CLIENT = { id: 'other-agent', secret: 'another secret that only the tests have' };
const LIFETIME_S = 600;

interface SigningKey {
  readonly kid: string;
  readonly sign: CryptoKey;
  readonly jwk: JWK;
  readonly publicJwk: JWK;
}

export interface ForgedToken {
  readonly claims?: JWTPayload;
  readonly header?: Readonly<Record<string, string>>;
  readonly key?: CryptoKey;
}

/** A real authorization server (`oidc-provider`). Tests can also sign tokens with its key themselves. */
export class OidcIssuer {
  /** The projects claim of every token. */
  projects: unknown = ['payments'];
  /** Whether connections are closed instead of answered. */
  isDown = false;
  /** The paths of all requests. */
  readonly asked: string[] = [];
  private provider: RequestListener = () => {};
  private current!: SigningKey;

  private constructor(
    private readonly server: Server,
    readonly url: string,
    private readonly alg: string,
  ) {
    server.on('request', (request, response) => {
      this.asked.push(request.url ?? '');
      if (this.isDown) request.socket.destroy();
      else this.provider(request, response);
    });
  }

  static async start(alg = 'RS256'): Promise<OidcIssuer> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const issuer = new OidcIssuer(server, `http://127.0.0.1:${port}`, alg);
    onCleanup(() => issuer.stop());
    await issuer.rotate();
    return issuer;
  }

  get key(): SigningKey {
    return this.current;
  }

  get jwksFetches(): number {
    return this.asked.filter((path) => path === '/jwks').length;
  }

  /** Replaces the signing key. */
  async rotate(): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair(this.alg, { extractable: true });
    const header = { kid: `key-${performance.now()}`, alg: this.alg };
    this.current = {
      kid: header.kid,
      sign: privateKey,
      jwk: { ...(await exportJWK(privateKey)), ...header },
      publicJwk: { ...(await exportJWK(publicKey)), ...header },
    };
    this.provider = await this.provide();
  }

  private async provide(): Promise<RequestListener> {
    const { Provider } = await withoutWarnings(() => import('oidc-provider'));
    const configuration = {
      clients: [CLIENT, OTHER_CLIENT].map(({ id, secret }) => ({
        client_id: id,
        client_secret: secret,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        id_token_signed_response_alg: this.alg,
      })),
      jwks: { keys: [this.current.jwk] },
      scopes: ['mcp:use'],
      ttl: { ClientCredentials: LIFETIME_S },
      extraTokenClaims: () => ({ projects: this.projects }),
      features: {
        clientCredentials: { enabled: true },
        devInteractions: { enabled: false },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_ctx: unknown, resource: string) => ({
            scope: 'mcp:use',
            audience: resource,
            accessTokenTTL: LIFETIME_S,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: this.alg } },
          }),
        },
      },
    };
    return (await withoutWarnings(() => new Provider(this.url, configuration))).callback();
  }

  /** A token as clients get it: by client credentials, for one resource. */
  async token(resource: string, scope?: string, client = CLIENT): Promise<string> {
    const credentials = Buffer.from(`${client.id}:${encodeURIComponent(client.secret)}`).toString('base64');
    const body = new URLSearchParams({ grant_type: 'client_credentials', resource, ...(scope && { scope }) });
    const answer = fetch(`${this.url}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${credentials}` },
      body,
    });
    const response = await within('a token', answer);
    const { access_token: token, ...rest } = (await response.json()) as { access_token?: string };
    if (token === undefined) throw new Error(`the issuer gave no token: ${JSON.stringify(rest)}`);
    return token;
  }

  /** A token with any claims and header, signed with the key of the issuer unless another key is given. */
  forge({ claims, header, key = this.current.sign }: ForgedToken = {}): Promise<string> {
    return new SignJWT({ iss: this.url, sub: 'subject', projects: this.projects, ...claims })
      .setProtectedHeader({ alg: this.alg, kid: this.current.kid, ...header })
      .sign(key);
  }

  private async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await within('the issuer to stop', once(this.server, 'close'));
  }
}

/** Suppresses the warnings of the package about its in-memory store and the Node version. */
async function withoutWarnings<T>(act: () => T | Promise<T>): Promise<T> {
  const { warn } = console;
  console.warn = () => {};
  try {
    return await act();
  } finally {
    console.warn = warn;
  }
}
