import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { IterationBudget } from '../lib/slices/iteration-budget.js';

/** Maximum time in which requests begin in one iteration of the event loop. Further ones begin in later iterations. */
const ADMISSION_MS = 4;
/** Time that each request uses up in addition to the time of `begin`. Most of its work follows after `begin` has returned. */
const WORK_AFTER_BEGIN_MS = 0.04;
/** Maximum requests of one connection that wait for the response to an earlier one (HTTP pipelining). */
export const MAX_PIPELINED = 64;
/**
 * Maximum of such waiting requests on all connections together. Each request that has been parsed takes time and memory, and
 * a thousand connections can send their requests at once.
 */
export const MAX_ALL_PIPELINED = 1024;

/** The limit beyond which a connection is closed. */
export type PipeliningLimit = 'pipelined' | 'pipelinedPerConnection';

/** Counts the refusal and closes the connection. */
export type RefusePipelined = (socket: Socket, limit: PipeliningLimit) => void;

/** The latest response on a connection. */
const LATEST = Symbol('latest response');
/** Number of requests on a connection that wait for the response to an earlier one. */
const PIPELINED = Symbol('pipelined requests');

export type ClientSocket = Socket & {
  [LATEST]?: ServerResponse;
  [PIPELINED]?: number;
  /** Node's HTTP parser of the connection. Node's documentation does not describe it. */
  parser?: { onIncoming?: () => number } | null;
};

/** The return value of `onIncoming` that ends the parsing of a piece of input. */
const STOP_PARSING = 2;

/**
 * Limits how many requests begin in one iteration of the event loop: many may arrive at once, on many connections, or on one
 * connection whose client does not wait for responses. A request begins only when the previous response on its connection is
 * finished. Before that, Node has not connected the new response to the socket, so that the new response would not emit
 * 'close' when the client disconnects.
 */
export class RequestAdmission {
  private readonly budget = new IterationBudget(ADMISSION_MS);
  /** Number of requests on all connections that wait for the response to an earlier one of their connection. */
  private allPipelined = 0;

  /**
   * Calls `begin` at once or in a later iteration. Beyond a pipelining limit, calls `refuse`, which has to close the
   * connection: an error could be sent only after the responses to all earlier requests, which may take long.
   */
  admit(
    request: IncomingMessage,
    response: ServerResponse,
    begin: RequestListener,
    refuse: RefusePipelined,
  ): void {
    const socket = request.socket as ClientSocket;
    // Node parses a piece of input to its end, even if the connection is closed meanwhile.
    if (socket.destroyed) return;
    const previous = socket[LATEST];
    socket[LATEST] = response;
    // Node connects the response to the connection when the previous one is finished.
    if (!previous || response.socket) {
      this.run(request, response, begin);
      return;
    }
    const exceeded = this.exceededLimit(socket);
    if (exceeded) {
      stopParsing(socket);
      refuse(socket, exceeded);
      return;
    }
    this.addPipelined(socket);
    previous.once('finish', () => {
      if (socket.destroyed) return;
      socket[PIPELINED]--;
      this.allPipelined--;
      this.run(request, response, begin);
    });
  }

  /** The response to the latest request on a connection. */
  latestOn(socket: ClientSocket): ServerResponse | undefined {
    return socket[LATEST];
  }

  private run(request: IncomingMessage, response: ServerResponse, begin: RequestListener): void {
    if (this.budget.hasTime) this.budget.run(this.beginNow, request, response, begin);
    else this.budget.runLater(() => this.beginNow(request, response, begin));
  }

  private readonly beginNow = (
    request: IncomingMessage,
    response: ServerResponse,
    begin: RequestListener,
  ): void => {
    this.budget.charge(WORK_AFTER_BEGIN_MS);
    // The client may have left meanwhile, or the connection may have been closed after the previous response.
    if (!request.socket.destroyed && response.socket) begin(request, response);
  };

  private exceededLimit(socket: ClientSocket): PipeliningLimit | undefined {
    if (socket[PIPELINED] === MAX_PIPELINED) return 'pipelinedPerConnection';
    return this.allPipelined >= MAX_ALL_PIPELINED ? 'pipelined' : undefined;
  }

  private addPipelined(socket: ClientSocket): void {
    if (socket[PIPELINED] === undefined) {
      socket[PIPELINED] = 0;
      socket.once('close', () => (this.allPipelined -= socket[PIPELINED]!));
    }
    socket[PIPELINED]++;
    this.allPipelined++;
  }
}

/**
 * Ends the parsing of the piece of input that Node has read. Otherwise Node parses all requests in it, which may be thousands,
 * although the connection is closed.
 */
function stopParsing({ parser }: ClientSocket): void {
  if (parser) parser.onIncoming = () => STOP_PARSING;
}
