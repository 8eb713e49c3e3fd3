import type { ResponseSink } from './response-parser.js';

/** Hears what becomes of one request. After its end or failure there is no more. */
export interface PostListener extends ResponseSink {
  /** From here on nobody knows whether the server has got it. */
  onSent(): void;
  onFailure(cause: Error): void;
}

/** Whoever has a request in hand. */
export interface Carrier {
  drop(post: Post): void;
}

/** One POST request. */
export class Post {
  constructor(
    /** Its first lines, but for the length of the body. */
    readonly head: string,
    readonly body: string,
    readonly listener: PostListener,
    /** Changes hands when a connection is there. */
    public carrier: Carrier,
  ) {}

  /** Ends it where it is; the listener hears nothing of that. */
  abort(): void {
    this.carrier.drop(this);
  }
}
