import type { Message } from './events.js';
import type { RawResponse } from './http.js';

/** The HTTP status and the JSON-RPC code of an answer, which together say how something was refused. */
export async function refusal(response: Promise<RawResponse>): Promise<[number, number | undefined]> {
  const { status, text } = await response;
  return [status, messageIn(text).error?.code];
}

export const messageIn = (text: string): Message => JSON.parse(text) as Message;
