import { afterEach, describe, expect, it } from '@jest/globals';
import {
  callText,
  HttpHarness,
  ScriptedHttpServer,
  startEventStream,
  type IncomingRequest,
} from '../../../test/kit/http-harness.js';
import { writeEndlessly } from '../../../test/kit/http.js';
import { until } from '../../../test/kit/until.js';
import { SseTransport } from '../sse/sse-transport.js';
import { StdioTransport } from '../stdio/stdio-transport.js';
import type { InboundGate, LinkTransport } from './transport.js';

const PAUSE_MS = 40;
const LINES = 'for (;;) require("fs").writeSync(1, "{}\\n".repeat(9999));';

const harness = new HttpHarness();
afterEach(harness.release);

/** Records when the transport asks how long it must pause. */
class PausingGate implements InboundGate {
  readonly isOverRate = true;
  readonly askedAt: number[] = [];
  readonly expectedSince: number[] = [];

  admits(): boolean {
    return true;
  }

  chargeMalformed(): void {}

  pauseAfter(): number {
    this.askedAt.push(performance.now());
    return PAUSE_MS;
  }

  expectMessagesSince(time: number): void {
    this.expectedSince.push(time);
  }
}

/** Comments that end, so that no event becomes too long. */
function sendEndlessly({ response }: IncomingRequest): unknown {
  startEventStream(response);
  response.write('event: endpoint\ndata: /message\n\n: ');
  return writeEndlessly(response);
}

async function startServer(): Promise<string> {
  const server = await ScriptedHttpServer.start(sendEndlessly);
  harness.onRelease(() => server.stop());
  return server.url;
}

const STREAMS: Record<string, () => Promise<[LinkTransport, (transport: LinkTransport) => unknown]>> = {
  'the stdout of a child': async () => [
    new StdioTransport({ command: process.execPath, args: ['-e', LINES] }, { stopGraceMs: 10 }),
    (transport) => transport.start(),
  ],
  'an SSE stream': async () => [
    new SseTransport({ url: await startServer() }, { maxMessageBytes: 2 ** 28 }),
    (transport) => transport.start(),
  ],
  'a notification stream': async () => [
    harness.transportTo(await startServer(), { maxMessageBytes: 2 ** 28 }),
    (transport) => transport.openNotificationStream?.(),
  ],
  'the stream of a response': async () => [
    harness.transportTo(await startServer(), { maxMessageBytes: 2 ** 28 }),
    (transport) => void transport.sendText(callText(1), 1).catch(() => {}),
  ],
};

describe('a transport whose server is beyond its rate', () => {
  it.each(Object.keys(STREAMS))(
    'pauses reading of %s as long as the gate says, and reports when messages are read late',
    async (kind) => {
      const [transport, open] = await STREAMS[kind]!();
      harness.onRelease(() => transport.close());
      const gate = new PausingGate();
      transport.inbound = gate;
      await open(transport);
      await until('the transport has read ten times', () => gate.askedAt.length >= 10);
      // What was read at once before the first pause, or follows the last one, is not paused in between.
      expect(gate.askedAt[9]! - gate.askedAt[0]!).toBeGreaterThan(5 * PAUSE_MS);
      // The messages on the stream of a response belong to its request, whenever they are read.
      expect(gate.expectedSince.length > 0).toBe(kind !== 'the stream of a response');
    },
  );
});
