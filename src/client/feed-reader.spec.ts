import { describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { collectGarbage } from '../../test/kit/collect-garbage.js';
import { serve } from '../../test/kit/serve.js';
import { until } from '../../test/kit/until.js';
import { completesWithin } from '../lib/deadlines/timeout.js';
import { AdminApi } from './admin-api.js';
import { FeedReader } from './feed-reader.js';

type Response = Parameters<Parameters<typeof serve>[0]>[1];

async function startReader(
  respond: (response: Response, attempt: number) => void,
  onEvent: () => void = () => {},
) {
  let attempts = 0;
  const { url } = await serve((_request, response) => respond(response, ++attempts));
  const events: string[] = [];
  const reader = new FeedReader(new AdminApi({ url, token: 'a-token' }), {
    opened: () => events.push('opened'),
    event: (kind, data) => {
      events.push(`${kind} ${JSON.stringify(data)}`);
      onEvent();
    },
    lost: (problem) => events.push(`lost: ${problem}`),
  });
  const finished = reader.run();
  onCleanup(async () => {
    reader.stop();
    await finished;
  });
  return { events, reader, finished };
}

const stream = (response: Response): Response =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });

describe('FeedReader', () => {
  it('reports every event for any chunk boundaries', async () => {
    const { events } = await startReader((response) => {
      stream(response).write('id: 1\nevent: snapshot\ndata: {"revision":0}\n\nevent: ser');
      response.write('ver\ndata: {"id":"a"}\n\n: still here\n\nevent: odd\ndata: no json\n\n');
    });
    await until('both events are reported', () => events.length === 3);
    expect(events).toEqual(['opened', 'snapshot {"revision":0}', 'server {"id":"a"}']);
  });

  it('reconnects after a listener throws, also if the error is a SyntaxError', async () => {
    const { events } = await startReader(
      (response) => stream(response).write('event: snapshot\ndata: {}\n\n'),
      () => {
        if (events.length === 2) throw new SyntaxError('of the listener');
      },
    );
    await until('the reader has reconnected', () => events.length === 5);
    expect(events[2]).toMatch(/^lost: /);
    expect(events.slice(3)).toEqual(['opened', 'snapshot {}']);
  });

  it('reconnects after the stream ends and reports the cause', async () => {
    const { events } = await startReader((response, attempt) => {
      stream(response).write(`event: snapshot\ndata: {"revision":${attempt}}\n\n`);
      if (attempt === 1) response.end();
    });
    await until('the reader has reconnected', () => events.length === 5);
    expect(events).toEqual([
      'opened',
      'snapshot {"revision":1}',
      'lost: the gateway ended the connection',
      'opened',
      'snapshot {"revision":2}',
    ]);
  });

  it('reports that the gateway is draining if the stream announced it', async () => {
    const { events } = await startReader((response, attempt) => {
      const draining = 'event: draining\ndata: {"at":"now"}\n\n';
      stream(response).write(`event: snapshot\ndata: {}\n\n${attempt === 1 ? draining : ''}`);
      if (attempt <= 2) response.end();
    });
    await until(
      'the reader has reconnected twice',
      () => events.filter((line) => line === 'opened').length === 3,
    );
    expect(events.filter((line) => line.startsWith('lost'))).toEqual([
      'lost: the gateway is draining',
      'lost: the gateway ended the connection',
    ]);
  });

  it('retries after a refusal, and immediately on retryNow', async () => {
    const { events, reader } = await startReader((response, attempt) => {
      if (attempt === 1)
        response.writeHead(503, { 'content-type': 'application/problem+json' }).end('{"detail":"full"}');
      else stream(response).write('event: snapshot\ndata: {}\n\n');
    });
    await until('the request is refused', () => events.includes('lost: full'));
    reader.retryNow();
    await until('the feed is open', () => events.includes('opened'));
    expect(events.slice(0, 2)).toEqual(['lost: full', 'opened']);
  });

  it('stops also after the garbage of the open request was collected', async () => {
    const { events, reader, finished } = await startReader((response) =>
      stream(response).write('event: snapshot\ndata: {}\n\n'),
    );
    await until('the feed is open', () => events.includes('snapshot {}'));
    await collectGarbage();
    reader.stop();
    expect(await completesWithin(finished, 5000)).toBe(true);
  });

  it('stops also during a backoff', async () => {
    const { events, reader, finished } = await startReader((response) => response.destroy());
    await until('the connection is lost', () =>
      events.some((line) => line.startsWith('lost: cannot reach the gateway')),
    );
    reader.stop();
    await finished;
    expect(events).not.toContain('opened');
  });
});
