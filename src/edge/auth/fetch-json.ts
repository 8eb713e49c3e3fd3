import { request } from 'undici';

/** Far above the size of a key set, which has a few thousand bytes. */
const MAX_BYTES = 262_144;

/** Fetches a JSON document of limited size, without following redirects. */
export async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  // Requests are minutes apart, so the connection is not kept.
  const { statusCode, body } = await request(url, {
    signal,
    reset: true,
    headers: { accept: 'application/json' },
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`${url} answered with more than ${MAX_BYTES} bytes`);
  }
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}`);
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch (cause) {
    throw new Error(`${url} answered with invalid JSON`, { cause });
  }
}
