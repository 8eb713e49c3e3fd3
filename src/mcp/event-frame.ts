import { onOneLine } from '../core/json-text.js';

/** One server-sent event, encoded once and written to any number of streams. */
export interface EventFrame {
  readonly sequence: number;
  readonly bytes: Buffer;
}

let lastSequence = 0;

/**
 * An event for a standing stream, or for the stream of one request when `stream` names it. Sequences count over the
 * whole process: they are unique in every session, and one frame can serve them all.
 */
export function eventFrame(message: string, stream = ''): EventFrame {
  const sequence = ++lastSequence;
  const text = `event: message\nid: ${eventId(sequence, stream)}\ndata: ${onOneLine(message)}\n\n`;
  return { sequence, bytes: Buffer.from(text) };
}

/** An event without a message: from now on the client has an id to resume from. */
export function primingFrame(stream: string): EventFrame {
  const sequence = ++lastSequence;
  return { sequence, bytes: Buffer.from(`id: ${eventId(sequence, stream)}\ndata: \n\n`) };
}

const eventId = (sequence: number, stream: string): string =>
  stream ? `${sequence}.${stream}` : `${sequence}`;

/** The place a client wants to resume from; undefined when it is no id of ours. */
export function parseEventId(id: string): { sequence: number; stream: string } | undefined {
  const match = /^(\d{1,15})(?:\.([a-z0-9]{1,16}))?$/.exec(id);
  return match ? { sequence: Number(match[1]), stream: match[2] ?? '' } : undefined;
}

/** Keeps proxies from closing a quiet stream, and finds out that a client is gone. */
export const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');
