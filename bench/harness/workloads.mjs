import { ENVELOPE } from './session.mjs';
import { TOOLS } from './tools.mjs';

/** Placeholder of the request id. The id is part of the payload too, so that no response is mistaken for another. */
export const ID = '$ID';

const request = (method, params) => `{"jsonrpc":"2.0","id":${ID},"method":"${method}","params":${params}}`;

const callOf = (tool, era) =>
  request(
    'tools/call',
    `{"name":"${tool}","arguments":{"message":"the payload of request ${ID}"}` +
      (era === '2026' ? `,"_meta":${ENVELOPE}}` : '}'),
  );
/** The headers of a call in revision 2026-07-28, which repeat its body. */
const headersOf = ({ era, toolPrefix }) =>
  era === '2026' ? { 'mcp-method': 'tools/call', 'mcp-name': `${toolPrefix}echo` } : {};
const isEcho = ({ content }, id) => content[0].text === `the payload of request ${id}`;

/** The request of each workload and the check of its result. */
export const WORKLOADS = {
  'tools/call': {
    request: ({ toolPrefix, era }) => callOf(`${toolPrefix}echo`, era),
    headers: headersOf,
    isRight: isEcho,
  },
  'tools/call over stdio': { request: () => callOf('stdio__echo'), isRight: isEcho },
  'tools/list': {
    request: () => request('tools/list', '{}'),
    isRight: ({ tools }) => tools.length === TOOLS.length,
  },
  'first page of 10,000 tools': {
    request: () => request('tools/list', '{}'),
    isRight: ({ tools }) => tools.length === 1000,
  },
  'resources/read of 1 MB': {
    request: ({ uriPrefix }) => request('resources/read', `{"uri":"${uriPrefix}bench://large"}`),
    isRight: ({ contents }) => contents[0].text.length === 1_048_576,
  },
};
