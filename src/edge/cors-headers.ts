import { PROJECT_HEADERS } from './http-request.js';

const ALLOWED_HEADERS = [
  'content-type',
  'accept',
  'authorization',
  'mcp-session-id',
  'mcp-protocol-version',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  ...PROJECT_HEADERS,
];
/** A header that repeats a tool argument. Its name ends with the name of the argument. */
const PARAMETER_HEADER = /^mcp-param-[a-z0-9_-]+$/;

/**
 * The headers that a web page may send. `requested` is the value of Access-Control-Request-Headers. CORS has no
 * patterns for names, so each requested header of a tool argument is listed.
 */
export function allowedHeaders(requested = ''): string[] {
  const names = requested.split(',').map((name) => name.trim().toLowerCase());
  return [...ALLOWED_HEADERS, ...names.filter((name) => PARAMETER_HEADER.test(name))];
}
