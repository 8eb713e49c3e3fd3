/** In every lane of this era of the suite. */
const ALWAYS = {
  2025: {
    'server-sse-polling': {
      checks: ['server-sse-disconnect-resume', 'server-sse-priming-event', 'server-sse-retry-field'],
      reason:
        'The gateway reconnects to the server by itself and answers the call in JSON, so that there is nothing to poll.',
    },
  },
  2026: {},
};

/** In lanes of clients of 2026 in front of a server of 2025. */
const IN_FRONT_OF_LEGACY = {
  'input-required-result-basic-elicitation': {
    checks: ['sep-2322-elicitation-incomplete', 'sep-2322-elicitation-complete'],
    reason:
      'The scenario expects the key user_name. Requests of a server of 2025 have no keys: the gateway counts them.',
  },
  'input-required-result-multiple-input-requests': {
    checks: ['sep-2322-multiple-inputs-incomplete', 'sep-2322-multiple-inputs-complete'],
    reason:
      'The scenario expects three questions at once. The fixture of 2025 asks one after the other, as such servers do.',
  },
  'input-required-result-ignore-extra-params': {
    checks: ['sep-2322-ignore-unexpected-params'],
    reason:
      'The scenario answers without having been asked. Without requestState no call waits for the answer.',
  },
};

/** The checks of the server role that are expected to differ from the direct lane, by scenario, with the reason. */
export const knownDifferences = (client, server) => ({
  ...ALWAYS[client],
  ...(client === '2026' && server === '2025' && IN_FRONT_OF_LEGACY),
});
