import { TOOLS } from './tools.mjs';

/** Stands in a request for its id, which is part of the payload too: no answer can be taken for another's. */
export const ID = '$ID';

/** What is sent, and what a right answer to it holds. */
export const WORKLOADS = {
  'tools/call': {
    request: (prefix) =>
      `{"jsonrpc":"2.0","id":${ID},"method":"tools/call",` +
      `"params":{"name":"${prefix}echo","arguments":{"message":"the payload of request ${ID}"}}}`,
    isRight: ({ content }, id) => content[0].text === `the payload of request ${id}`,
  },
  'tools/list': {
    request: () => `{"jsonrpc":"2.0","id":${ID},"method":"tools/list","params":{}}`,
    isRight: ({ tools }) => tools.length === TOOLS.length,
  },
};
