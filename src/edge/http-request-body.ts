import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.js';
import { JsonProblem, JsonReader, type ReadJson } from '../lib/json-text/json-reader.js';
import { MAX_EAGER_LENGTH } from '../lib/json-text/json-text.js';
import { RepeatedMember } from '../lib/json-text/repeated-member.js';
import { inputBudget } from '../lib/slices/iteration-budget.js';
import { PacedInput } from '../lib/slices/paced-input.js';
import { mayRepeat } from '../mcp/envelope.js';
import { CLIENT_JSON_LIMITS } from '../mcp/json-limits.js';

/** A client usually sends the same `_meta` in all of its requests: in the 2026 era, it is most of a request. */
const repeatedMeta = new RepeatedMember('params', '_meta', { texts: 64, length: 1024, stores: mayRepeat });
/** Reads bodies that arrive in one piece. `BodyReading` has checked their size. */
const onePieceReader = new JsonReader({
  ...CLIENT_JSON_LIMITS,
  maxBytes: Infinity,
  repeated: repeatedMeta,
});
const NO_BYTES = Buffer.alloc(0);
const NO_RELEASE = (): void => {};

/** Gets the body of one request. Either `received` or `failed` is called, and only once. */
export interface BodyReceiver {
  /** The body as JSON, or its problem. */
  received(body: ReadJson): void;
  /** The client has disconnected, or `claim` has thrown. */
  failed(error: unknown): void;
}

/** Claims memory for a body of this size. Returns the function that releases it. Throws if a limit is reached. */
export type BodyClaim = (bytes: number) => () => void;

/** Like `receiveBody`, as a promise that rejects with the error of `failed`. */
export const readBody = (request: IncomingMessage, limit: number, claim?: BodyClaim): Promise<ReadJson> =>
  new Promise((received, failed) => receiveBody(request, limit, { received, failed }, claim));

/**
 * Reads the body as JSON. If the body is larger than `limit`, stops reading and passes a `JsonProblem` to the receiver.
 * If the body arrives in several pieces, calls `claim` with the expected size when the second piece arrives, and calls
 * the function that `claim` returns when the body has been read. If `claim` throws, stops reading and fails.
 */
export function receiveBody(
  request: IncomingMessage,
  limit: number,
  receiver: BodyReceiver,
  claim: BodyClaim = () => NO_RELEASE,
): void {
  const reading = new BodyReading(request, limit, receiver, claim);
  if (reading.isTooLong) {
    reading.refuseSize();
    return;
  }
  (request as ReadRequest)[READING] = reading;
  request.on('data', onData);
  request.on('end', onEnd);
  // A request that the client aborts emits 'close'. A listener for 'error' is not needed: Node emits 'error' only if
  // there is one.
  request.on('close', onClose);
}

const READING = Symbol('reading of the body');

type ReadRequest = IncomingMessage & { [READING]: BodyReading };

// The listeners are the same functions for all requests, because closures for each request would cost time.

function onData(this: ReadRequest, chunk: Buffer): void {
  this[READING].receive(chunk);
}

function onEnd(this: ReadRequest): void {
  this[READING].end();
}

function onClose(this: ReadRequest): void {
  this[READING].close();
}

/** The state of reading one body. */
class BodyReading {
  /** NaN without Content-Length. */
  private readonly announcedBytes: number;
  /** The first piece. Most bodies consist of one piece, which `onePieceReader` reads. */
  private firstPiece: Buffer | undefined;
  /** Reads a body of several pieces. */
  private reader: JsonReader | undefined;
  /** Passes the pieces after the first to `append`, in limited amounts per iteration of the event loop. */
  private input: PacedInput | undefined;
  private hasEnded = false;
  private hasStopped = false;
  private release = NO_RELEASE;

  constructor(
    private readonly request: IncomingMessage,
    private readonly limit: number,
    private readonly receiver: BodyReceiver,
    private readonly claim: BodyClaim,
  ) {
    this.announcedBytes = Number(request.headers['content-length']);
  }

  get isTooLong(): boolean {
    return this.announcedBytes > this.limit;
  }

  refuseSize(): void {
    this.stop();
    this.release();
    this.receiver.received(new JsonProblem('size', `is larger than ${this.limit} bytes`));
  }

  receive(chunk: Buffer): void {
    if (!this.firstPiece && chunk.length <= this.limit) {
      this.firstPiece = chunk;
      return;
    }
    try {
      this.input ??= this.startInput();
      this.input.push(chunk);
    } catch (error) {
      this.stop();
      this.receiver.failed(error);
    }
  }

  end(): void {
    this.hasEnded = true;
    // Node may emit 'end' although the request is paused. Then `input` has not processed the last piece yet.
    if (this.input) this.input.whenIdle(() => this.parseLater());
    else this.parseLater();
  }

  close(): void {
    if (this.hasStopped || this.hasEnded) return;
    this.stop();
    this.release();
    this.receiver.failed(new GatewayError('bad-request', 'The body ended early'));
  }

  /** Called by the immediate that `parseLater` schedules. */
  parse(): void {
    const body = this.reader?.take() ?? onePieceReader.read(this.firstPiece ?? NO_BYTES);
    // The request, which references this object, stays in memory until it is answered.
    this.firstPiece = undefined;
    this.release();
    this.receiver.received(body);
  }

  /**
   * Parses the body after Node has read the input that has arrived on all connections (docs/decisions/0015). A long body
   * is parsed when the input budget has time.
   */
  private parseLater(): void {
    if (this.hasStopped) return;
    this.stop();
    const { length } = this.reader ?? this.firstPiece ?? NO_BYTES;
    if (length > MAX_EAGER_LENGTH) inputBudget.runLater(() => this.parse());
    else setImmediate(parse, this);
  }

  private startInput(): PacedInput {
    this.release = this.claim(this.announcedBytes || this.limit);
    return new PacedInput(this.request, (chunk) => this.append(chunk));
  }

  private append(chunk: Buffer): void {
    if (this.hasStopped) return;
    if (!this.reader) {
      this.reader = new JsonReader({
        ...CLIENT_JSON_LIMITS,
        maxBytes: this.limit,
        expectedBytes: this.announcedBytes || 0,
      });
      if (this.firstPiece) this.reader.append(this.firstPiece);
    }
    if (!this.reader.append(chunk)) this.refuseSize();
  }

  private stop(): void {
    this.hasStopped = true;
    this.request.off('data', onData);
  }
}

const parse = (reading: BodyReading): void => reading.parse();
