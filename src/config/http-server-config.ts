import { CommonServerConfig } from './common-server-config.js';
import { Choice, Text, TextRecord } from './schema/keys.js';
import { Rule } from './schema/rule.js';

const HEADER_NAME = {
  pattern: /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/,
  requirement: 'must be the name of an HTTP header',
};

const HEADER_VALUE = {
  pattern: /^[\t\x20-\x7e\x80-\xff]*$/,
  requirement: 'must be one line of Latin-1 characters without control characters',
};

/** A server over Streamable HTTP or HTTP+SSE. */
export class HttpServerConfig extends CommonServerConfig {
  override readonly concurrency: number = 64;
  override readonly queue: number = 2_000;

  @Choice(
    ['http', 'sse'],
    'Transport: Streamable HTTP, or HTTP+SSE if the server refuses that with HTTP 400, 404 or 405 (http); or the ' +
      'deprecated HTTP+SSE transport at once (sse).',
    { 'streamable-http': 'http', streamableHttp: 'http' },
  )
  readonly type: 'http' | 'sse' = 'http';

  @Rule<string>(
    'url',
    isUrlWithoutCredentials,
    'must be a complete URL without user name and password; put credentials into headers',
  )
  @Text('URL of the MCP endpoint.', {
    rule: { pattern: /^https?:\/\//, requirement: 'must start with http:// or https://' },
    missingMessage: 'is required',
  })
  readonly url: string;

  @TextRecord(HEADER_NAME, 'HTTP headers of every request to the server, such as Authorization.', {
    rule: HEADER_VALUE,
  })
  readonly headers: Readonly<Record<string, string>> = {};
}

function isUrlWithoutCredentials(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}
