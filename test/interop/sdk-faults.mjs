const ENDS = 'ten event streams end';
const CUTS = 'ten connections are cut';
const CANCELLATION = 'cancellation reaches the server';

const abruptEnds = {
  why: 'The client counts event streams that end with an error and gives up at the second; opening one again does not reset the count.',
};
const neverReopens = { why: 'The client never opens its event stream again.', row: ENDS };
const noCancellation = { why: 'The client has no way to send notifications/cancelled.' };
const ignoresCancellation = {
  why: 'The server ignores notifications/cancelled.',
  column: 'java/http',
  row: CANCELLATION,
};

/**
 * Cells that fail by the fault of the SDK, by column and row. The runner shows it each time: the row, or the one named here,
 * has to fail without the gateway too.
 */
export const SDK_FAULTS = {
  'python-1': { [CUTS]: abruptEnds },
  'python-2': { [CUTS]: abruptEnds },
  // Its client is that of Python 2.x.
  fastmcp: { [CUTS]: abruptEnds },
  java: {
    [CANCELLATION]: noCancellation,
    [ENDS]: neverReopens,
    [CUTS]: neverReopens,
    'graceful restart, updates go on': neverReopens,
    'kill -9, updates go on': neverReopens,
  },
  'java/http': { [CANCELLATION]: ignoresCancellation },
  'java/stdio': { [CANCELLATION]: ignoresCancellation },
};

const notTold = { why: 'The API of the SDK does not say that a stream has ended.' };
const notToldInGo = {
  'graceful restart, the stream ends with a result': notTold,
  'kill -9, the stream ends without a result': notTold,
};

/** Cells of clients of 2026 that the API of the SDK has no means for, by column and row. */
export const SDK_GAPS = { 'go/2026-2025': notToldInGo, 'go/2026-2026': notToldInGo };
