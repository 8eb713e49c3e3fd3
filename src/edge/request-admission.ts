import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { IterationBudget } from '../lib/slices/iteration-budget.js';

/** Maximum time in which requests begin in one iteration of the event loop. Further ones begin in later iterations. */
const ADMISSION_MS = 4;
/** The minimum time for which a request counts. Most of its work follows after `begin` has returned. */
const MIN_REQUEST_MS = 0.04;
/** Maximum requests of one connection that wait for the response to an earlier one (HTTP pipelining). */
export const MAX_PIPELINED = 64;

/** The latest response on a connection. */
const LATEST = Symbol('latest response');
/** Number of requests on a connection that wait for the response to an earlier one. */
const PIPELINED = Symbol('pipelined requests');

export type ClientSocket = Socket & {
  [LATEST]?: ServerResponse;
  [PIPELINED]?: number;
};

/**
 * Limits how many requests begin in one iteration of the event loop: many may arrive at once, on many connections, or on one
 * connection whose client does not wait for responses.
 */
export class RequestAdmission {
  private readonly budget = new IterationBudget(ADMISSION_MS);

  /**
   * Calls `begin` at once or in a later iteration. Beyond the pipelining limit, calls `refuse`, which has to close the
   * connection: an error could be sent only after the responses to all earlier requests, which may take long.
   */
  admit(
    request: IncomingMessage,
    response: ServerResponse,
    begin: RequestListener,
    refuse: (socket: Socket) => void,
  ): void {
    const socket = request.socket as ClientSocket;
    // Node parses a piece of input to its end, even if the connection is closed meanwhile.
    if (socket.destroyed) return;
    if (isPipelinedTooFar(socket, response)) {
      refuse(socket);
      return;
    }
    if (this.budget.hasTime) {
      this.budget.charge(MIN_REQUEST_MS);
      this.budget.run(begin, request, response);
    } else this.budget.runLater(() => this.beginLate(request, response, begin));
  }

  private beginLate(request: IncomingMessage, response: ServerResponse, begin: RequestListener): void {
    this.budget.charge(MIN_REQUEST_MS);
    // The client may have left meanwhile.
    if (!request.socket.destroyed) begin(request, response);
  }

  /** The response to the latest request on a connection. */
  latestOn(socket: ClientSocket): ServerResponse | undefined {
    return socket[LATEST];
  }
}

/**
 * Whether too many requests of the connection wait for the response to an earlier one. Node sends the responses in the
 * order of the requests, and reads further requests meanwhile.
 */
function isPipelinedTooFar(socket: ClientSocket, response: ServerResponse): boolean {
  const previous = socket[LATEST];
  socket[LATEST] = response;
  if (!previous || previous.writableFinished) return false;
  const count = (socket[PIPELINED] ?? 0) + 1;
  socket[PIPELINED] = count;
  response.once('close', () => {
    socket[PIPELINED] = (socket[PIPELINED] ?? 0) - 1;
  });
  return count > MAX_PIPELINED;
}
