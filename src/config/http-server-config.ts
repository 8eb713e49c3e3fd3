import { CommonServerConfig } from './common-server-config.js';
import { Choice, Text, TextRecord } from './schema/keys.js';
import { Rule } from './schema/rule.js';

const HEADER_NAME = { pattern: /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, says: 'must be the name of an HTTP header' };

const HEADER_VALUE = {
  pattern: /^[\t\x20-\x7e\x80-\xff]*$/,
  says: 'must be one line of characters that a header may carry',
};

/** A server that is reached over HTTP. */
export class HttpServerConfig extends CommonServerConfig {
  @Choice(['http', 'sse'], 'Streamable HTTP, or the older transport with two endpoints (sse).', {
    'streamable-http': 'http',
    streamableHttp: 'http',
  })
  readonly type: 'http' | 'sse' = 'http';

  @Rule<string>('address', isUsable, 'must be a whole address, and a password in it belongs into headers')
  @Text('Address of the MCP endpoint.', {
    rule: { pattern: /^https?:\/\//, says: 'must start with http:// or https://' },
    missing: 'must be given',
  })
  readonly url: string;

  @TextRecord(HEADER_NAME, 'Headers of every request to the server, such as Authorization.', {
    rule: HEADER_VALUE,
  })
  readonly headers: Readonly<Record<string, string>> = {};
}

function isUsable(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}
