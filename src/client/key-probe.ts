const TIMEOUT_MS = 2000;

/**
 * Whether the MCP endpoint responds with 401 to a request without a key. Undefined when there is no response. Opens no
 * session.
 */
export async function refusesWithoutKey(endpoint: string): Promise<boolean | undefined> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), TIMEOUT_MS);
  try {
    const { status, body } = await fetch(endpoint, {
      headers: { accept: 'text/event-stream' },
      redirect: 'manual',
      signal: controller.signal,
    });
    await body?.cancel();
    return status === 401;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
