import type { ResponseHeaders } from './response-head.js';

/** Hears of one response. After its end or an error nothing more comes. */
export interface ResponseHandler {
  /** A connection is there to send it. False withdraws it. */
  onConnection(post: Post): boolean;
  onResponseStart(status: number, headers: ResponseHeaders): void;
  onResponseData(chunk: Buffer): void;
  onResponseEnd(): void;
  onResponseError(cause: Error): void;
}

/** What carries a request to the server. */
export interface Carrier {
  drop(post: Post): void;
}

/** One POST request. */
export class Post {
  private carrier: Carrier | undefined;

  constructor(
    /** Its first lines, but for the length of the body. */
    readonly head: string,
    readonly body: string,
    readonly handler: ResponseHandler,
  ) {}

  /** False when it is not wanted any more. */
  begin(carrier: Carrier): boolean {
    this.carrier = carrier;
    return this.handler.onConnection(this);
  }

  /** Ends it where it is; the handler hears nothing of that. */
  abort(): void {
    this.carrier?.drop(this);
  }
}
