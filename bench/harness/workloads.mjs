import { TOOLS } from './tools.mjs';

/** Placeholder of the request id. The id is part of the payload too, so that no response is mistaken for another. */
export const ID = '$ID';

const request = (method, params) => `{"jsonrpc":"2.0","id":${ID},"method":"${method}","params":${params}}`;

const callOf = (tool) =>
  request('tools/call', `{"name":"${tool}","arguments":{"message":"the payload of request ${ID}"}}`);
const isEcho = ({ content }, id) => content[0].text === `the payload of request ${id}`;

/** The request of each workload and the check of its result. */
export const WORKLOADS = {
  'tools/call': { request: ({ toolPrefix }) => callOf(`${toolPrefix}echo`), isRight: isEcho },
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
