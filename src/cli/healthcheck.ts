import { request } from 'undici';

const LONGEST_MS = 2000;

/** Whether the gateway at this address says that it is alive. */
export async function healthcheck(url: string): Promise<boolean> {
  try {
    const { statusCode, body } = await request(new URL('/health/live', url), {
      headersTimeout: LONGEST_MS,
      bodyTimeout: LONGEST_MS,
    });
    await body.dump();
    return statusCode === 200;
  } catch {
    return false;
  }
}
