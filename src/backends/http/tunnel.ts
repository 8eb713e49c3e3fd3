import type { OnReadOpts, Socket } from 'node:net';
import type { ProxyFailure } from '../../config/egress-proxies.js';

/** Maximum size of the response of the proxy. */
const MAX_HEAD_BYTES = 16_384;
const END_OF_HEAD = '\r\n\r\n';

/** Why a proxy did not open a tunnel. */
export class TunnelError extends Error {
  constructor(
    readonly reason: ProxyFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

interface TunnelRequest {
  /** Host and port of the server. */
  readonly authority: string;
  readonly authorization: string | undefined;
  readonly timeoutMs: number;
}

/**
 * A request to a proxy for a connection to a server (CONNECT). If the socket has the option `onread`, it emits no events for
 * data: then the option must be the result of `wrap`, so that the tunnel gets the response of the proxy.
 */
export class Tunnel {
  private head = '';
  private isOpen = false;
  /** Ends the request. Undefined before `open`, and after the end. */
  private settle: ((error: TunnelError | null) => void) | undefined;

  /** An option `onread` that passes data to the tunnel until it is open, and then to the given `onread`. */
  wrap(onread: OnReadOpts): OnReadOpts {
    return {
      buffer: onread.buffer,
      callback: (count, bytes) => {
        if (this.isOpen) return onread.callback(count, bytes);
        this.read(Buffer.from(bytes.buffer, bytes.byteOffset, count));
        return true;
      },
    };
  }

  /** Calls `done` once: with an error, or with null when the tunnel is open and bytes on the socket reach the server. */
  open(socket: Socket, request: TunnelRequest, done: (error: TunnelError | null) => void): void {
    const { authority, authorization, timeoutMs } = request;
    const onClose = (cause?: unknown): void => this.fail('closed', 'the proxy closed the connection', cause);
    const onReadable = (): void => {
      while (!this.isOpen) {
        const chunk = socket.read() as Buffer | null;
        if (chunk === null) return;
        this.read(chunk);
      }
    };
    const timer = setTimeout(() => this.fail('timeout', 'the proxy did not answer in time'), timeoutMs);
    this.settle = (error) => {
      this.settle = undefined;
      clearTimeout(timer);
      socket.off('error', onClose).off('close', onClose).off('readable', onReadable);
      if (error) socket.on('error', () => {}).destroy();
      done(error);
    };
    socket.on('error', onClose).on('close', onClose).on('readable', onReadable);
    const credentials = authorization === undefined ? '' : `proxy-authorization: ${authorization}\r\n`;
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${credentials}\r\n`, 'latin1');
  }

  private fail(reason: ProxyFailure, message: string, cause?: unknown): void {
    this.settle?.(new TunnelError(reason, message, cause instanceof Error ? { cause } : undefined));
  }

  /** Reads a part of the response of the proxy. */
  private read(chunk: Buffer): void {
    this.head += chunk.toString('latin1');
    const end = this.head.indexOf(END_OF_HEAD);
    if (end === -1) {
      if (this.head.length > MAX_HEAD_BYTES) this.fail('invalid', 'the response of the proxy is too large');
      return;
    }
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(this.head)?.[1];
    if (status === undefined) this.fail('invalid', 'the answer of the proxy is not HTTP');
    else if (!status.startsWith('2')) this.fail('refused', `the proxy answered HTTP ${status}`);
    // The server sends nothing before the gateway does, so further bytes do not come from the server.
    else if (this.head.length > end + END_OF_HEAD.length)
      this.fail('invalid', 'the proxy sent more than a response');
    else {
      this.isOpen = true;
      this.settle?.(null);
    }
  }
}
