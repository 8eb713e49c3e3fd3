import { request } from 'undici';

/** A key set has a few thousand bytes. */
const MAX_BYTES = 262_144;

/** Gets a JSON document. Follows no redirect, and reads no more than such a document can have. */
export async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  // One exchange in many minutes: there is no connection worth keeping.
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
    throw new Error(`${url} answered something else than JSON`, { cause });
  }
}
