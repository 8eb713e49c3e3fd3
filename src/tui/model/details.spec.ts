import { describe, expect, it } from '@jest/globals';
import { server, tool, TuiModelHarness, type TuiGatewayContents } from '../../../test/kit/tui-model.js';
import type { ServerDetail } from '../../client/admin-types.js';
import { detailLines } from './details.js';
import type { Model } from './model.js';

/** The text of the details pane on a wide screen, after these keys. */
const detailsOf = (model: Model): string =>
  detailLines(model)
    .map((line) => line.map(({ text }) => text).join(''))
    .join('\n');

const open = (gateway: TuiGatewayContents, ...keys: string[]): Model =>
  new TuiModelHarness(gateway, { columns: 160, rows: 40 }).press(...keys, 'enter').model;

/** The model with more members of the server that is shown. */
function withDetail(model: Model, more: Partial<ServerDetail>): Model {
  const loaded = model.serverDetail!;
  return { ...model, serverDetail: { ...loaded, detail: { ...loaded.detail, ...more } } };
}

describe('detailLines', () => {
  it('show why a server is down: cause, reason, since when, attempts and the next one, and its stderr', () => {
    const down = server('files', {
      state: 'retrying',
      cause: 'crashed',
      reason: 'the process exited with code 3',
      downSince: '2026-03-01T11:48:00Z',
      attempts: 4,
      nextAttempt: '2026-03-01T12:00:20Z',
    });
    const shown = detailsOf(withDetail(open({ servers: [down] }), { stderr: ['no such table: notes'] }));
    for (const field of [
      /^state +retrying$/m,
      /^cause +crashed$/m,
      /^reason +the process exited with code 3$/m,
      /^down for +12m$/m,
      /^attempts +4, next at 2026-03-01T12:00:20Z$/m,
      /^Latest stderr output\nno such table: notes$/m,
    ])
      expect(shown).toMatch(field);
  });

  it('show the attempts without the next one while it is running', () => {
    const shown = detailsOf(open({ servers: [server('files', { state: 'connecting', attempts: 2 })] }));
    expect(shown).toMatch(/^attempts +2$/m);
  });

  it('show the last failure of a server that is ready again, with the lines on stderr before it', () => {
    const lastFailure = {
      time: '2026-03-01T11:55:00Z',
      cause: 'unresponsive',
      reason: 'no answer to a ping',
      stderr: ['out of memory'],
    } as const;
    expect(detailsOf(withDetail(open({ servers: [server('files')] }), { lastFailure }))).toContain(
      'Last failure\n5m ago, unresponsive: no answer to a ping\nout of memory\n',
    );
  });

  it('show who decided about a tool, and when', () => {
    const decision = {
      id: 'tool:files:read',
      kind: 'tool',
      target: 'files',
      tool: 'read',
      change: 'enabled',
      effect: 'applied',
      overrules: true,
      emergency: false,
      by: 'admin',
      at: '2026-03-01T11:00:00Z',
    } as const;
    const tools = [tool('read', 'reads', { origin: 'admin', decision })];
    expect(detailsOf(open({ servers: [server('files')], tools }, '2'))).toMatch(
      /^Decided\nenabled by admin at 2026-03-01T11:00:00Z,\s+overrules the file$/m,
    );
  });
});
